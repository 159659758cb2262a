package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What users can know of a distribution: what is in it, who made it, and that it can be made again.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
class SupplyTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path HOME = ROOT.resolve("target/graft");
  private static final Path SIGN = ROOT.resolve("distribution/sign.sh");

  @TempDir Path folder;

  @Test
  void theBillOfMaterialsNamesEveryJarProgramAndTheRuntime() throws Exception {
    JsonNode bill =
        new ObjectMapper().readTree(HOME.resolve("graft-linux-x86_64.cdx.json").toFile());
    assertThat(bill.path("bomFormat").asText()).isEqualTo("CycloneDX");
    assertThat(bill.path("specVersion").asText()).isEqualTo("1.6");
    TreeMap<String, JsonNode> components = new TreeMap<>();
    for (JsonNode component : bill.path("components")) {
      components.put(component.path("name").asText(), component);
      assertThat(component.path("version").asText()).as("%s", component).isNotEmpty();
    }
    try (Stream<Path> jars = Files.list(HOME.resolve("lib"))) {
      for (Path jar : jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
        String name = jar.getFileName().toString().replaceFirst("(-[0-9].*)?\\.jar$", "");
        if (!name.equals("graft")) {
          assertThat(components).containsKey(name);
        }
      }
    }
    for (String program :
        List.of(
            "lib/graft-jail",
            "lib/graft-usernet",
            "lib/client/libcuda.so.1",
            "lib/client/libnvidia-ml.so.1",
            "lib/client/cupti/libcupti.so.13",
            "lib/client/graft-oci-hook",
            "lib/client/graft-verify")) {
      assertThat(components).containsKey(program);
      byte[] bytes = Files.readAllBytes(HOME.resolve(program));
      assertThat(components.get(program).path("hashes").path(0).path("content").asText())
          .isEqualTo(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)));
    }
    assertThat(components.get("openjdk").path("version").asText()).startsWith("17.");
  }

  @Test
  void aDistributionIsSignedAndVerified() throws Exception {
    Path made = Files.createDirectory(folder.resolve("made"));
    Path archive = Files.writeString(made.resolve("graft-linux-x86_64.tar.gz"), "an archive");
    Path bill = Files.writeString(made.resolve("graft-linux-x86_64.cdx.json"), "{}");
    String key = key("operator");
    Path keyring = keyring(key);
    run(0, SIGN.toString(), made.toString(), key);
    run(0, SIGN.toString(), "--verify", made.toString(), keyring.toString());

    Path foreign = keyring(key("somebody"));
    assertThat(run(1, SIGN.toString(), "--verify", made.toString(), foreign.toString()))
        .contains("is not signed by a key of " + foreign);

    Path debian = Files.writeString(made.resolve("graft_1_amd64.deb"), "a package");
    run(0, SIGN.toString(), made.toString(), key);
    Files.writeString(debian, "another package");
    assertThat(run(1, SIGN.toString(), "--verify", made.toString(), keyring.toString()))
        .contains("is not the one that was signed");
    Files.delete(debian);

    Files.writeString(archive, "another archive");
    assertThat(run(1, SIGN.toString(), "--verify", made.toString(), keyring.toString()))
        .contains("a file in", "is not the one that was signed");
    run(0, SIGN.toString(), made.toString());
    assertThat(made.resolve("SHA256SUMS.asc"))
        .as("no signature of other sums stays")
        .doesNotExist();
    run(1, SIGN.toString(), "--verify", made.toString(), keyring.toString());

    Files.delete(bill);
    assertThat(run(1, SIGN.toString(), made.toString(), key)).contains("run mvn package");
    assertThat(run(2, SIGN.toString())).contains("example: ");
  }

  /** Takes a minute or two: it compiles the C parts and packages most modules once more. */
  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  @Tag("integration")
  @WithLongTests
  void aBuildInAnotherFolderGivesTheSameBytes() throws Exception {
    assertThat(run(0, ROOT.resolve("distribution/reproduce.sh").toString()))
        .contains("files are the same, 0 are not");
  }

  /** A key that lives as long as the test. */
  private String key(String name) throws Exception {
    run(
        0,
        "gpg",
        "--batch",
        "--quiet",
        "--pinentry-mode",
        "loopback",
        "--passphrase",
        "",
        "--quick-generate-key",
        name + "@example.org",
        "ed25519",
        "sign",
        "never");
    return run(0, "gpg", "--batch", "--with-colons", "--list-keys", name + "@example.org")
        .lines()
        .filter(line -> line.startsWith("fpr:"))
        .map(line -> line.split(":", -1)[9])
        .findFirst()
        .orElseThrow();
  }

  private Path keyring(String key) throws Exception {
    Path file = folder.resolve(key + ".gpg");
    run(0, "gpg", "--batch", "--output", file.toString(), "--export", key);
    return file;
  }

  /** Runs a program with a home for gpg of the test's own; returns what it printed. */
  private String run(int code, String... words) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(List.of(words)));
    Path home = folder.resolve("gpg");
    if (!Files.exists(home)) {
      Files.createDirectory(home);
      Files.setAttribute(home, "unix:mode", 0700);
    }
    builder.environment().put("GNUPGHOME", home.toString());
    File printed = folder.resolve("printed").toFile();
    Process process = builder.redirectErrorStream(true).redirectOutput(printed).start();
    int ended = process.waitFor();
    String text = Files.readString(printed.toPath(), StandardCharsets.UTF_8);
    assertThat(ended).as(text).isEqualTo(code);
    return text;
  }
}
