package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls are synchronous or asynchronous as the CUDA driver API's pages "API synchronization
 * behavior" and "Stream synchronization behavior" document, over the channels of one machine
 * ({@code src/test/c/synchronization.c} is the program).
 */
final class SynchronizationTest {
  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.gcc(
        "-O1",
        "-std=gnu11",
        "-pthread",
        "src/test/c/synchronization.c",
        "-o",
        folder.resolve("synchronization").toString(),
        "-ldl");
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest(name = "{0}, streams closed by a {1}, {2} repetitions")
  @CsvSource({
    "shm, function, 8",
    "shm, value, 3",
    "unix, function, 5",
    "tcp, function, 8",
    "tcp, value, 3"
  })
  void everyLineOfTheDocumentationHolds(String channel, String gate, String repeats)
      throws Exception {
    check(channel, gate, repeats);
  }

  @WithLongTests
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void everyLineHoldsTwoHundredTimes(String channel) throws Exception {
    check(channel, "function", "200");
  }

  private static void check(String channel, String gate, String repeats) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    environment.put("SYNCHRONIZATION_GATE", gate);
    environment.put("SYNCHRONIZATION_REPEATS", repeats);
    Finished program =
        Finished.run(
            folder,
            environment,
            List.of(folder.resolve("synchronization").toString()),
            Duration.ofMinutes(5));
    assertThat(program.out().lines().filter(line -> line.contains(": FAILED"))).isEmpty();
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).containsPattern("(?m)^4\\d\\d checks, 0 failed$");
  }
}
