package graft.guests.payload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** A seed as cloud-init reads it. */
class CloudInitSeedTest {
  /** Longer than a name in a tar archive is without further ado. */
  private static final String LONG = "/opt" + "/a folder".repeat(20) + "/last";

  @TempDir Path folder;

  private final Payload payload =
      new Payload(
          "alice",
          List.of(
              PayloadFile.text("hello\n", "/etc/hello there", 0640).inGroup("video"),
              PayloadFile.text("far\n", LONG, 0644),
              PayloadFile.text("bye\n", "/etc/bye", 0600)),
          List.of("numactl"),
          List.of("A=b c"),
          List.of("hello.service"));

  @Test
  void theCloudConfigRunsTheScriptOfTheSeedItself() {
    CloudInitSeed seed = new CloudInitSeed("id-1", payload, Optional.empty(), Optional.empty());
    Map<String, Object> config = new Yaml().load(seed.cloudConfig());
    assertThat(config).containsEntry("hostname", "alice");
    assertThat(config.get("write_files").toString())
        .contains("path=/var/lib/cloud/scripts/per-boot/graft, permissions=0755")
        .contains("setup.sh", "setup.tar", CloudInitSeed.marker("id-1"));
  }

  @Test
  void withoutAPayloadItOnlyLeavesItsMark() {
    CloudInitSeed seed =
        new CloudInitSeed("id-1", Payload.empty("alice"), Optional.empty(), Optional.empty());
    assertThat(seed.cloudConfig())
        .contains(CloudInitSeed.marker("id-1"))
        .doesNotContain("setup.tar");
  }

  @Test
  void theArchiveIsAsLongAsItSays() throws Exception {
    SetupArchive archive = new SetupArchive(payload);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    archive.writeTo(out);
    assertThat(archive.size()).isEqualTo(out.size());
  }

  @Test
  @EnabledIf("hasXorriso")
  void theImageHoldsTheFilesUnderTheirJolietNames() throws Exception {
    Path image = folder.resolve("seed.iso");
    try (OutputStream out = Files.newOutputStream(image)) {
      new CloudInitSeed("id-1", payload, Optional.of("#cloud-config\n"), Optional.empty())
          .writeTo(out);
    }
    String file =
        "stdio:" + image; // the folder may be in /dev/shm, and xorriso takes /dev for drives
    assertThat(run("xorriso", "-indev", file, "-pvd_info")).contains("Volume Id    : cidata");
    run(
        "xorriso",
        "-read_fs",
        "norock",
        "-osirrox",
        "on",
        "-indev",
        file,
        "-extract",
        "/",
        folder.resolve("out").toString());
    assertThat(folder.resolve("out/meta-data")).content().contains("instance-id: id-1");
    assertThat(folder.resolve("out/user-data")).content().contains("multipart/mixed");
    assertThat(folder.resolve("out/network-config")).content().contains("dhcp4: true");
    assertThat(folder.resolve("out/setup.sh")).hasBinaryContent(SetupArchive.script());
    run("tar", "-C", folder.toString(), "-xpf", folder.resolve("out/setup.tar").toString());
    assertThat(folder.resolve("var/lib/graft/.setup/manifest"))
        .hasContent(
            "file 600 root /etc/bye\nfile 640 video /etc/hello there\nfile 644 root "
                + LONG
                + "\npackage numactl\nenvironment A=b c\nservice hello.service\n");
    Path hello = folder.resolve("etc/.graft-new/hello there");
    assertThat(hello).hasContent("hello\n");
    assertThat(Files.getPosixFilePermissions(hello))
        .isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
    assertThat(folder.resolve(LONG.substring(1).replace("/last", "/.graft-new/last")))
        .hasContent("far\n");
  }

  private static String run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }

  static boolean hasXorriso() {
    return Files.isExecutable(Path.of("/usr/bin/xorriso"));
  }
}
