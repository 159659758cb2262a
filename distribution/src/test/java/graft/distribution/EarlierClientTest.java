package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Today's server serves the client of each earlier release, built from that release's commit: an
 * upgrade of the server refuses no guest.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class EarlierClientTest {
  private static final Path RELEASES =
      Checkout.ROOT.resolve("remoting-bridge/api/src/main/resources/graft/remoting/api/releases");

  private static final Pattern RELEASE = Pattern.compile("^## ([0-9.]+) \\(", Pattern.MULTILINE);

  private static final Pattern COMMIT = Pattern.compile("\\(commit ([0-9a-f]+)\\)");

  /** Builds the client of a commit in a folder. */
  private static final String BUILD =
      """
      set -e
      git -C "$2" archive "$1" remoting-bridge/api remoting-bridge/client | tar -x
      cd remoting-bridge
      javac -d classes $(find api/src/main/java -name '*.java')
      cp -r api/src/main/resources/. classes
      mkdir -p client/target/generated
      java -cp classes graft.remoting.api.Generator client client/target/generated
      touch client/target/generated/stamp
      make -s -C client -j2 CFLAGS=-O0 target/lib/libcuda.so.1
      """;

  @TempDir Path folder;

  @Test
  void itsProgramsRun() throws Exception {
    for (String release : releases()) {
      String commit = commitOf(release);
      Map<String, String> environment = Map.of("PATH", System.getenv("PATH"));
      Finished known = git("cat-file", "-e", commit + "^{commit}");
      assumeTrue(known.code() == 0, "this checkout has no history");
      Path built = Files.createDirectory(folder.resolve(release));
      List<String> build = List.of("sh", "-c", BUILD, "sh", commit, Checkout.ROOT.toString());
      Finished client = Finished.run(built, environment, build, Duration.ofMinutes(5));
      assertThat(client.code()).as("%s", client).isZero();
      Path made = built.resolve("remoting-bridge/client/target");
      // Clients of today's interface are tried by every other test.
      if (!hash(made).equals(hash(Checkout.ROOT.resolve("remoting-bridge/client/target")))) {
        runWith(made.resolve("lib"), built);
      }
    }
  }

  @Test
  void everyReleaseOfTheChangeLogIsServed() throws Exception {
    List<String> released =
        RELEASE
            .matcher(Files.readString(Checkout.ROOT.resolve("CHANGELOG.md")))
            .results()
            .map(heading -> heading.group(1))
            .sorted()
            .toList();
    assertThat(released).isNotEmpty().isEqualTo(releases());
  }

  private static List<String> releases() throws Exception {
    try (Stream<Path> files = Files.list(RELEASES)) {
      List<String> releases = files.map(file -> file.getFileName().toString()).sorted().toList();
      assertThat(releases).isNotEmpty();
      return releases;
    }
  }

  private static Finished git(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    return Finished.run(Checkout.ROOT, System.getenv(), command);
  }

  private static String commitOf(String release) throws Exception {
    Matcher commit = COMMIT.matcher(Files.readString(RELEASES.resolve(release)));
    assertThat(commit.find()).isTrue();
    return commit.group(1);
  }

  /** The hash that a client sends. */
  private static String hash(Path target) throws Exception {
    return Files.readAllLines(target.resolve("generated/graft_rpc.h")).stream()
        .filter(line -> line.startsWith("#define GRAFT_API_HASH "))
        .findFirst()
        .orElseThrow();
  }

  /** The release's own fuzzer, since today's finds what has been mended in clients since. */
  private void runWith(Path client, Path sources) throws Exception {
    Programs.build(folder, List.of("driver"));
    Path fuzzer = Programs.buildFuzzer(sources, "memory", folder);
    SoftwareServer server = SoftwareServer.forAllChannels(folder);
    try {
      for (String channel : List.of("shm", "tcp")) {
        Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
        environment.put("LD_LIBRARY_PATH", client.toString());
        Finished driver =
            Finished.run(folder, environment, List.of(folder.resolve("driver").toString()));
        assertThat(driver.out())
            .as("%s", driver)
            .isEqualTo(Files.readString(Path.of("src/test/resources/driver-api.txt")));
        Finished memory =
            Finished.run(
                folder, environment, List.of(fuzzer.toString(), "--seed", "1", "--seconds", "4"));
        assertThat(memory.code()).as("%s", memory).isZero();
      }
    } finally {
      server.stop();
    }
  }
}
