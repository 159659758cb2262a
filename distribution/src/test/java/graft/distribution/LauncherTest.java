package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code ./graft} and {@code bin/graft}. */
final class LauncherTest {
  /** No Java in sight: the launcher brings its own. */
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

    // The first use makes the class archive, the second one uses it.
    for (int use = 1; use <= 2; use++) {
      Finished valid =
          Finished.run(home, BARE, List.of("bin/graft", "validate", "examples/xen.yaml"));
      assertThat(valid.err()).isEmpty();
      assertThat(valid.code()).isZero();
      assertThat(home.resolve("lib/graft.jsa")).exists();
    }
    Finished test = Finished.run(home, BARE, List.of("bin/graft", "test"));
    assertThat(test.code()).isEqualTo(4);
    assertThat(test.err()).contains("needs a checkout");
  }

  @Test
  void theDistributionIsUnderSixtyMegabytes() throws IOException {
    assertThat(Files.size(Checkout.ARCHIVE)).isLessThan(60_000_000);
  }

  static Stream<Path> examples() throws IOException {
    try (Stream<Path> files = Files.list(Checkout.ROOT.resolve("examples"))) {
      return files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList().stream();
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
