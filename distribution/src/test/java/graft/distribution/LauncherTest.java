package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code ./graft} and {@code bin/graft}. */
final class LauncherTest {
  /** An environment without Java, since the launcher brings its own. */
  private static final Map<String, String> BARE = Map.of("PATH", "/usr/bin:/bin", "HOME", "/");

  private static final Path GRAFT = Checkout.ROOT.resolve("graft");

  @TempDir Path folder;

  @Test
  void runsFromAnyFolder() throws Exception {
    Finished version = Finished.run(folder, BARE, List.of(GRAFT.toString(), "--version"));
    assertThat(version.out()).contains("raft");
    assertThat(version.code()).isZero();
  }

  @Test
  void runsThroughLinks() throws Exception {
    Path first = Files.createSymbolicLink(folder.resolve("one"), GRAFT);
    Files.createDirectory(folder.resolve("bin"));
    Files.createSymbolicLink(folder.resolve("bin/two"), Path.of("../one"));
    assertThat(first).isSymbolicLink();
    Finished version =
        Finished.run(folder, Map.of("PATH", "bin:/usr/bin:/bin"), List.of("bin/two", "--version"));
    assertThat(version.err()).isEmpty();
    assertThat(version.code()).isZero();
  }

  @Test
  void passesTheExitCodeOn() throws Exception {
    Finished wrong = Finished.run(folder, BARE, List.of(GRAFT.toString(), "no-such-command"));
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("no-such-command");
  }

  @Test
  void explainsTheCommandsOfItsOwn() throws Exception {
    Finished help = Finished.run(folder, BARE, List.of(GRAFT.toString(), "test", "--help"));
    assertThat(help.out()).contains("./graft test").contains("./graft build");
    assertThat(help.code()).isZero();
  }

  @Test
  void aCheckoutThatIsNotBuiltSaysHowToBuildIt() throws Exception {
    Files.copy(GRAFT, folder.resolve("graft"));
    Files.createFile(folder.resolve("pom.xml"));
    Finished plan = Finished.run(folder, BARE, List.of("sh", "./graft", "plan", "x.yaml"));
    assertThat(plan.code()).isEqualTo(4);
    assertThat(plan.err()).contains("not built yet").contains("graft build");
  }

  @Test
  void theDistributionRunsWhereItIsUnpacked() throws Exception {
    Path home = Files.createDirectory(folder.resolve("with space"));
    Finished unpacked =
        Finished.run(
            home,
            BARE,
            List.of("tar", "-xzf", Checkout.ARCHIVE.toString(), "--strip-components=1"));
    assertThat(unpacked.err()).isEmpty();

    Finished valid =
        Finished.run(home, BARE, List.of("bin/graft", "validate", "examples/xen.yaml"));
    assertThat(valid.err()).isEmpty();
    assertThat(valid.code()).isZero();
    Finished test = Finished.run(home, BARE, List.of("bin/graft", "test"));
    assertThat(test.code()).isEqualTo(4);
    assertThat(test.err()).contains("needs a checkout");
  }

  @Test
  @Tag("integration")
  void theFirstPlanMakesTheClassArchiveAndTheSecondOneUsesIt() throws Exception {
    Path home = folder.resolve("home"); // other tests make the archive of the build's own
    assertThat(
            Finished.run(
                    folder, BARE, List.of("cp", "-a", Checkout.HOME.toString(), home.toString()))
                .code())
        .isZero();
    Path archive = home.resolve("lib/graft.jsa");
    Files.deleteIfExists(archive);
    Path graft = home.resolve("bin/graft");
    Path demo = Checkout.ROOT.resolve("examples/demo.yaml");
    Map<String, String> environment = new HashMap<>(BARE);
    environment.put("HOME", System.getProperty("user.home"));
    environment.put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    List<String> command = List.of(graft.toString(), "plan", demo.toString());

    Finished first = Finished.run(folder, environment, command);
    assertThat(first.code()).as(first.err()).isZero();
    assertThat(archive).exists();
    FileTime made = Files.getLastModifiedTime(archive);

    Finished second = Finished.run(folder, environment, command);
    assertThat(second.out()).isEqualTo(first.out());
    assertThat(second.err()).isEqualTo(first.err());
    assertThat(Files.getLastModifiedTime(archive)).isEqualTo(made);

    List<String> loading =
        List.of(
            home.resolve("runtime/bin/java").toString(),
            "-XX:SharedArchiveFile=" + archive,
            "-XX:+UseSerialGC",
            "-Xlog:class+load",
            "-cp",
            home.resolve("lib/graft.jar").toString(),
            "graft.cli.Main",
            "list",
            "--help");
    assertThat(Finished.run(folder, environment, loading).out())
        .as("it has the classes of other commands, and libraries with class files of old versions")
        .contains("graft.cli.deployment.ListCommand source: shared objects file")
        .contains("picocli.CommandLine source: shared objects file")
        .contains("picocli.CommandLine$BuiltIn$FileConverter source: shared objects file");
  }

  @Test
  void jnaHasItsLibraryWithoutCopyingIt() throws Exception {
    Map<String, String> environment = new HashMap<>(BARE);
    environment.put("JAVA_TOOL_OPTIONS", "-Djna.nounpack=true");
    environment.put("GRAFT_STATE_DIR", folder.toString());
    Path descriptor = folder.resolve("lab.yaml");
    Files.writeString(
        descriptor,
        "graft: 1\nname: lab\nlibvirt: \"qemu+unix:///system?socket=/nowhere\"\n"
            + "gpus: [{name: gpu0, owner: host, device: software}]\n");
    Finished plan =
        Finished.run(folder, environment, List.of(GRAFT.toString(), "plan", descriptor.toString()));
    assertThat(plan.err())
        .as("libvirt's library is loaded by JNA, and says what it did not find")
        .contains("Failed to connect socket to '/nowhere'");
  }

  @Test
  void theDistributionIsUnderSixtyMegabytes() throws IOException {
    assertThat(Files.size(Checkout.ARCHIVE)).isLessThan(60_000_000);
  }

  static Stream<Path> examples() throws IOException {
    try (Stream<Path> files = Files.list(Checkout.ROOT.resolve("examples"))) {
      // The suites of graft compare have a separate reader and test.
      return files
          .filter(f -> f.toString().endsWith(".yaml"))
          .filter(f -> !f.getFileName().toString().startsWith("compare-"))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everyExampleIsValid(Path example) throws Exception {
    Finished valid =
        Finished.run(folder, BARE, List.of(GRAFT.toString(), "validate", example.toString()));
    assertThat(valid.err()).isEmpty();
    assertThat(valid.code()).isZero();
  }
}
