package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The page of metrics. */
final class ServerMetricsTest {
  private final ServerMetrics metrics = new ServerMetrics();

  private static ServedSession session(String device) {
    return new ServedSession(
        1,
        Bytes.of(new byte[32]),
        new ServedSession.Client("a\"b\\c", "peer", "tcp", "", SessionLimits.NONE),
        DeviceSpec.parse(device),
        LeasePage.none());
  }

  @Test
  void theTimeOfAGuestsSessionsIsPrinted() {
    assertThat(metrics.page(List.of(session("software")), 0, 0))
        .contains("graft_session_gpu_seconds_total{guest=\"a\\\"b\\\\c\",gpu=\"software\"} 0.0\n");
    metrics.sessionEnded(session("cuda:0"));
    assertThat(metrics.page(List.of(session("cuda:0")), 0, 0))
        .contains("graft_session_gpu_seconds_total{guest=\"a\\\"b\\\\c\",gpu=\"cuda:0\"} 0.0\n");
  }

  /** The rules of the format: each family has its HELP and TYPE once, and before its values. */
  @Test
  void eachFamilyIsDescribedBeforeItsValues() {
    String described = "";
    for (String line : metrics.page(List.of(session("software")), 3, 0).split("\n", -1)) {
      if (line.startsWith("# TYPE ")) {
        described = line.split(" ", -1)[2];
      } else if (!line.isEmpty() && !line.startsWith("#")) {
        assertThat(line).matches(described + "(\\{.*\\})? [0-9.eE+-]+");
      }
    }
  }
}
