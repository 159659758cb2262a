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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A program that waits by events alone gets the bytes of each copy, and what it has waited for is
 * not fetched again ({@code src/test/c/event_waits.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class EventWaitsTest {
  /** What the program copies. */
  private static final long COPIED = 64L * (128 << 10);

  private static final Pattern FETCHED = Pattern.compile("mirrored memory: .* fetched (\\d+)B");

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.build(folder, List.of("event_waits"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest
  @CsvSource({"tcp, waits", "tcp, questions", "unix, waits", "unix, questions"})
  void whatAnEventWasRecordedBehindIsFetchedOnce(String channel, String how) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    environment.put("GRAFT_STATS", "1");
    Finished program =
        Finished.run(folder, environment, List.of(folder.resolve("event_waits").toString(), how));
    assertThat(program.out()).as(program.err()).isEqualTo("0 bytes are wrong\n");
    Matcher fetched = FETCHED.matcher(program.err());
    assertThat(fetched.find()).as(program.err()).isTrue();
    assertThat(Long.parseLong(fetched.group(1)))
        .as("bytes fetched; each is fetched with the wait for its copy, and at most once more")
        .isBetween(COPIED, 2 * COPIED);
  }
}
