package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The preparation of {@code ./graft build} on a machine without Maven, where stand-ins for {@code
 * apt-get}, {@code sudo} and {@code id} record their calls.
 */
final class ReadyTest {
  private static final List<String> REAL =
      List.of("bash", "dirname", "env", "find", "flock", "mkdir", "tail", "touch", "rm");

  @TempDir Path folder;
  private Path bin;
  private Path checkout;

  @BeforeEach
  void aBuiltCheckoutAndFewPrograms() throws IOException {
    bin = Files.createDirectory(folder.resolve("bin"));
    for (String program : REAL) {
      Files.createSymbolicLink(bin.resolve(program), Path.of("/usr/bin", program));
    }
    checkout = Files.createDirectory(folder.resolve("checkout"));
    Files.createFile(checkout.resolve("pom.xml"));
    Files.createDirectories(checkout.resolve("target/graft/lib"));
    Files.createFile(checkout.resolve("target/graft/built"));
    Files.createFile(checkout.resolve("target/graft/lib/graft.jar"));
    program("id", "echo 1000");
    program("sudo", "echo \"sudo $*\" >>record; \"$@\"");
  }

  private void program(String name, String script) throws IOException {
    Path file = Files.writeString(bin.resolve(name), "#!/bin/bash\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private Finished build(String... options) throws Exception {
    Path ready = Checkout.ROOT.resolve("distribution/launcher/ready.sh");
    String home = checkout.resolve("target/graft").toString();
    List<String> command = new ArrayList<>();
    command.addAll(List.of("/bin/bash", ready.toString(), checkout.toString(), home, "build"));
    command.addAll(List.of(options));
    Map<String, String> environment =
        Map.of("PATH", bin.toString(), "HOME", folder.toString(), "XDG_CACHE_HOME", "" + folder);
    return Finished.run(folder, environment, command);
  }

  private String record() throws IOException {
    Path file = folder.resolve("record");
    return Files.exists(file) ? Files.readString(file) : "";
  }

  @Test
  void withoutRootItSaysWhatIsMissingAndInstallsNothingUnasked() throws Exception {
    program("apt-get", "echo \"apt-get $*\" >>record");
    Finished build = build();
    assertThat(build.code()).isEqualTo(4);
    assertThat(build.err())
        .contains("maven                    builds Graft")
        .contains("say --yes to have them installed by sudo");
    assertThat(record()).isEmpty();
  }

  @Test
  void withYesItInstallsThroughSudo() throws Exception {
    program("apt-get", "echo \"apt-get $*\" >>record");
    Finished build = build("--yes");
    assertThat(build.err()).contains("will be installed");
    assertThat(build.code()).isZero();
    assertThat(record()).contains("sudo env DEBIAN_FRONTEND=noninteractive apt-get");
    assertThat(record()).containsPattern("apt-get .*--no-install-recommends install .*maven");
  }

  @Test
  void fetchesPackageListsWhenTheyAreMissing() throws Exception {
    program(
        "apt-get",
        """
        case "$*" in
          *update*) touch updated ;;
          *install*) [ -e updated ] || exit 100; echo "apt-get $*" >>installed ;;
        esac""");
    Finished build = build("-y");
    assertThat(build.err()).contains("fetching package lists");
    assertThat(build.code()).isZero();
    assertThat(folder.resolve("installed")).content().contains("maven");
  }

  @Test
  void showsTheEndOfTheLogWhenPackagesCannotBeInstalled() throws Exception {
    program("apt-get", "echo \"E: no such package\"; exit 100");
    Finished build = build("--yes");
    assertThat(build.code()).isEqualTo(4);
    assertThat(build.err()).contains("E: no such package").contains("apt-get failed");
  }

  @Test
  void buildsWhenASourceIsNewerThanTheBuildAndOnlyThen() throws Exception {
    for (String present : List.of("javac", "gcc", "make")) {
      program(present, "");
    }
    program("mvn", "echo mvn >>record; echo '[INFO] Building Graft: a part 1.0-SNAPSHOT [2/3]'");
    for (String used : List.of("sed", "tee")) {
      Files.createSymbolicLink(bin.resolve(used), Path.of("/usr/bin", used));
    }
    Path built = checkout.resolve("target/graft/built");
    Path source = Files.createFile(checkout.resolve("A.java"));

    Files.setLastModifiedTime(built, FileTime.fromMillis(2_000_000_000_000L));
    assertThat(build().err()).isEmpty();
    assertThat(record()).isEmpty();

    Files.setLastModifiedTime(source, FileTime.fromMillis(2_000_000_100_000L));
    assertThat(build().err()).contains("  [2/3] Graft: a part\n").contains("built in ");
    assertThat(record()).isEqualTo("mvn\n");

    Files.delete(source);
    assertThat(build().err()).isEmpty();
    assertThat(record()).isEqualTo("mvn\n");

    // As Maven leaves it when it was told to test and not to package.
    Files.delete(checkout.resolve("target/graft/lib/graft.jar"));
    assertThat(build().err()).contains("built in ");
    assertThat(record()).isEqualTo("mvn\nmvn\n");
  }
}
