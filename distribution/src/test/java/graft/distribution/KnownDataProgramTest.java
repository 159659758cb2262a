package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.Endpoint;
import graft.comparison.link.LinkRate;
import graft.comparison.link.Relay;
import graft.comparison.link.RoundTrip;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A program that copies the same weights to the device in each of its processes. */
@Timeout(180)
final class KnownDataProgramTest {
  private static final Pattern SENT = Pattern.compile("bulk-out=([0-9]+)B");
  private static final int MEGABYTES = 42;

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void start() throws Exception {
    server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    Programs.build(folder, List.of("weights"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  /** Returns the megabytes that the program sends beside its calls. */
  private static long run(String address, String setting, int seed) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(address));
    environment.put("GRAFT_STATS", "1");
    environment.put("GRAFT_KNOWN_DATA", setting);
    Finished program =
        Finished.run(
            folder,
            environment,
            List.of("./weights", Integer.toString(MEGABYTES), Integer.toString(seed)));
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).endsWith("same\n");
    Matcher sent = SENT.matcher(program.err());
    assertThat(sent.find()).as(program.err()).isTrue();
    return Long.parseLong(sent.group(1)) >> 20;
  }

  /**
   * The server hashes data in the background, and keeps nothing of what is left when a session
   * ends: on a busy machine some of the weights have to be sent more than twice.
   */
  private static void runUntilKnown(String address, String setting, int seed) throws Exception {
    while (run(address, setting, seed) > 0) {
      Thread.onSpinWait(); // ended by the test's own time limit
    }
  }

  /**
   * Where the server is near and the connection fast, everything stays as it is. On a busy machine
   * a connection to the machine itself can be slow enough, so that other weights are tried.
   */
  @Test
  void whereItIsNotWorthWhileNothingIsAsked() throws Exception {
    int seed = 100;
    while (!isSentAgain(seed)) {
      seed++; // ended by the test's own time limit
    }
  }

  /** Whether the server has kept nothing of weights that were sent before. */
  private static boolean isSentAgain(int seed) throws Exception {
    assertThat(run(server.address(), "auto", seed)).isEqualTo(MEGABYTES);
    return run(server.address(), "yes", seed) == MEGABYTES;
  }

  @Test
  void aServerThatIsFarAwayNeedsTheWeightsOnce() throws Exception {
    Endpoint near = Endpoint.parse(server.address());
    try (Relay relay =
        Relay.before(near, RoundTrip.parse("30ms"), Optional.of(LinkRate.parse("100Mbit")))) {
      assertThat(run(relay.url(), "auto", 4)).isEqualTo(MEGABYTES);
      runUntilKnown(relay.url(), "auto", 4);
      assertThat(run(relay.url(), "no", 4)).as("forbidden").isEqualTo(MEGABYTES);
      assertThat(run(relay.url(), "auto", 5)).as("other weights").isEqualTo(MEGABYTES);
    }
  }
}
