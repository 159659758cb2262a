package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The Debian packages: made twice, checked, and installed on a copy of this machine. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER) // which a package makes
final class DebianPackagesTest {
  @TempDir Path folder;

  /** The distribution's build has just made them; one of the folder alone leaves older ones. */
  @BeforeAll
  static void areThere() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-deb")), "no Debian");
    FileTime built = Files.getLastModifiedTime(Checkout.HOME.resolve("built"));
    for (String name : List.of("graft", "graft-client")) {
      if (made(name).isEmpty()
          || Files.getLastModifiedTime(made(name).get()).compareTo(built) < 0) {
        build();
      }
    }
  }

  private static void build() throws Exception {
    run("distribution/debian/build.sh");
  }

  private static Finished run(String... command) throws Exception {
    Finished ended =
        Finished.run(Checkout.ROOT, System.getenv(), List.of(command), Duration.ofMinutes(4));
    assertThat(ended.code()).as("%s", ended).isZero();
    return ended;
  }

  /** The package of this name, if it was made. */
  private static Optional<Path> made(String name) throws IOException {
    try (Stream<Path> files = Files.list(Checkout.ROOT.resolve("target"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(name + "_"))
          .filter(file -> file.toString().endsWith("_amd64.deb"))
          .findFirst();
    }
  }

  private static Path deb(String name) throws IOException {
    return made(name).orElseThrow();
  }

  @Test
  void twoBuildsGiveTheSameBytesAndLintianFindsNothing() throws Exception {
    for (String name : List.of("graft", "graft-client")) {
      Files.copy(deb(name), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
    build();
    for (String name : List.of("graft", "graft-client")) {
      assertThat(Files.mismatch(deb(name), folder.resolve(name))).as(name).isEqualTo(-1);
      Finished lintian =
          Finished.run(
              folder,
              Map.of("PATH", "/usr/bin:/bin", "HOME", folder.toString()),
              List.of("lintian", "--fail-on", "error,warning", deb(name).toString()),
              Duration.ofMinutes(4));
      assertThat(lintian.code()).as("%s", lintian).isZero();
    }
  }

  @Test
  void areInstalledUpgradedRemovedAndPurged() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can install packages");
    Finished tried =
        run(
            "distribution/src/test/sh/try-packages.sh",
            deb("graft").toString(),
            deb("graft-client").toString(),
            folder.toString());

    assertThat(tried.out())
        .contains(
            "ok: a program runs on the software device",
            "ok: settings stay\n",
            "ok: the loader finds the client",
            "ok: the journal is there",
            "ok: the settings are gone");
  }
}
