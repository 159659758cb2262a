package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program that waits for a stream after each copy of pageable memory waits for the server once,
 * unless something else may show that a copy is not done ({@code src/test/c/settled.c}).
 */
final class SettledWaitsTest {
  private static final int TIMES = 50;

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.build(folder, List.of("settled"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  private static Finished run(String channel, String what) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    environment.put("GRAFT_STATS", "1");
    Finished program =
        Finished.run(folder, environment, List.of(folder.resolve("settled").toString(), what));
    assertThat(program.out()).as(program.err()).isEqualTo("other bytes: 0\n");
    return program;
  }

  private static int calls(Finished program, String function) {
    Matcher calls = Pattern.compile(function + " +(\\d+) calls").matcher(program.err());
    return calls.find() ? Integer.parseInt(calls.group(1)) : 0;
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "unix", "tcp"})
  void onlyTheFirstWaitIsOne(String channel) throws Exception {
    Finished program = run(channel, "parameters");
    assertThat(calls(program, "cuStreamSynchronize")).isEqualTo(1);
    assertThat(calls(program, "graftStreamSettle")).isEqualTo(TIMES - 1);
  }

  /**
   * The program waits each time behind a kernel, if another process can see its memory, and for
   * copies to memory that it sees itself.
   */
  @ParameterizedTest
  @CsvSource({"shm, kernels", "tcp, kernels", "shm, shared", "tcp, shared", "tcp, mapped"})
  void otherwiseEachWaitIsOne(String channel, String what) throws Exception {
    Finished program = run(channel, what);
    assertThat(calls(program, "cuStreamSynchronize")).isGreaterThanOrEqualTo(TIMES);
    assertThat(calls(program, "graftStreamSettle")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "unix", "tcp"})
  void workOfOtherStreamsFollowsTheCopies(String channel) throws Exception {
    assertThat(calls(run(channel, "streams"), "graftStreamSettle")).isEqualTo(2 * TIMES);
  }
}
