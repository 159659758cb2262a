package graft.provisioner.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.provisioner.state.StateFolder;
import graft.provisioner.values.Name;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What status and plan say of channels that were measured. */
class MeasuredChannelsTest {
  private static final Map<String, Object> RDMA =
      Map.of("path", "rdma://a:1", "pinned_to_device_mb_s", "5200.0", "result", "ok");
  private static final Map<String, Object> TCP =
      Map.of("path", "tcp://a:1", "pinned_to_device_mb_s", "900.5", "result", "ok");

  @TempDir Path folder;

  private MeasuredChannels measured() {
    return new MeasuredChannels(new StateFolder(new Name("lab"), folder));
  }

  @Test
  void theLastMeasurementOfEachGuestIsKept() {
    measured().keep("alice", List.of(TCP), Instant.parse("2026-01-02T03:04:05.6Z"));
    measured().keep("alice", List.of(RDMA, TCP), Instant.parse("2026-02-02T03:04:05.6Z"));
    measured()
        .keep(
            "bob",
            List.of(Map.of("path", "rdma://a:1", "result", "failed: no"), TCP),
            Instant.parse("2026-03-02T03:04:05Z"));
    assertThat(MeasuredChannels.text(measured().all()))
        .isEqualTo(
            "channels of alice, measured 2026-02-02T03:04:05Z: rdma://a:1 5200.0 MB/s, tcp://a:1"
                + " 900.5 MB/s; the client takes rdma://a:1, and none is faster\n"
                + "channels of bob, measured 2026-03-02T03:04:05Z: rdma://a:1 does not work,"
                + " tcp://a:1 900.5 MB/s; the client takes tcp://a:1, and none is faster");
  }

  @Test
  void aSetUpThatWasNotMeasuredSaysNothing() {
    assertThat(MeasuredChannels.text(measured().all())).isEmpty();
    StateFolder none = new StateFolder(new Name("lab"), folder.resolve("none"));
    assertThat(new MeasuredChannels(none).all()).isEmpty();
  }
}
