package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Contexts, streams, events, memory, modules and graphs are made, used and destroyed in any order,
 * with new seeds each time: all calls succeed, all bytes are right, and no worker crashes. {@code
 * remoting-bridge/client/fuzz/objects --seed N} does the same again.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class ObjectsTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @TempDir static Path folder;
  private static SoftwareServer server;
  private static Path program;

  @BeforeAll
  static void serve() throws Exception {
    program = Programs.buildFuzzer("objects", folder);
    server = SoftwareServer.forAllChannels(folder);
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
    assertThat(server.log()).doesNotContain("Exception", "Error", "Problematic frame");
  }

  /** A line for each seed has a sum of the results of all calls. */
  @Test
  void theResultsAreTheSameOverEachChannel() throws Exception {
    Set<String> results = new HashSet<>();
    String seed = seed();
    for (String channel : List.of("shm", "tcp", "unix", "rdma")) {
      results.add(run(channel, List.of("--seed", seed, "--seeds", "20")));
    }
    assertThat(results).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "shm, --threads 4",
    "tcp, --threads 4",
    "rdma, --threads 3",
    "shm, --gone",
    "tcp, --gone"
  })
  void nothingElseEnds(String channel, String arguments) throws Exception {
    List<String> words = new ArrayList<>(List.of("--seed", seed(), "--seconds", "4"));
    words.addAll(List.of(arguments.split(" ")));
    run(channel, words);
  }

  private static String seed() {
    return Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE);
  }

  private static String run(String channel, List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    Finished finished =
        Finished.run(folder, server.environment(server.over(channel)), command, LIMIT);
    assertThat(finished.code()).as("%s: %s", command, finished).isZero();
    return finished.out();
  }
}
