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
 * Small pieces of pinned memory share what the server maps and registers, and no bytes ({@code
 * src/test/c/small_pinned.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class SmallPinnedMemoryTest {
  /**
   * The program allocates 5,250 pieces. One in twenty has up to 400 KiB, and those of more than 256
   * KiB share nothing.
   */
  private static final int MOST_MAPPINGS = 400;

  private static final Pattern MAPPINGS = Pattern.compile("graftRegionMap +(\\d+) calls");

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.build(folder, List.of("small_pinned"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest
  @CsvSource({"shm, one-context", "shm, two-contexts", "tcp, one-context"})
  void noPieceHasBytesOfAnother(String channel, String contexts) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    environment.put("GRAFT_STATS", "1");
    Finished program =
        Finished.run(
            folder, environment, List.of(folder.resolve("small_pinned").toString(), contexts));
    assertThat(program.out()).as(program.err()).isEqualTo("as it should be\n");
    if (channel.equals("shm")) {
      Matcher mappings = MAPPINGS.matcher(program.err());
      assertThat(mappings.find()).as(program.err()).isTrue();
      assertThat(Integer.parseInt(mappings.group(1))).isLessThan(MOST_MAPPINGS);
    }
  }
}
