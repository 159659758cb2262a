package graft.cli.guest;

import static org.assertj.core.api.Assertions.assertThat;

import graft.comparison.results.Measurement;
import graft.deployment.ChannelProbe;
import graft.deployment.state.ChannelMeasurement;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How verify --channels prints what a guest's programs print. */
class ChannelTableTest {
  private static final String CONFIGURATION =
      "# Written by graft.\nserver = ivshmem://10.0.2.2:7799, tcp://10.0.2.2:7799\nname = alice\n";

  private static List<Map<String, Object>> rows(Map<String, String> outputs) {
    return new ChannelProbe(words -> outputs.get(words.get(words.size() > 2 ? 1 : 0))).rows();
  }

  @Test
  void eachChannelHasALine() {
    List<Map<String, Object>> rows =
        rows(
            Map.of(
                "cat",
                CONFIGURATION,
                "GRAFT_SERVER=ivshmem://10.0.2.2:7799",
                "channel=ivshmem://10.0.2.2:7799\nround_trip_us=20.50\npinned_to_device_mb_s=9000.1\n"
                    + "pinned_to_host_mb_s=8000.2\nresult=ok\n",
                "GRAFT_SERVER=tcp://10.0.2.2:7799",
                "round_trip_us=300.00\npinned_to_device_mb_s=10.3\npinned_to_host_mb_s=10.4\nresult=ok\n"));
    assertThat(ChannelTable.of(rows))
        .isEqualToNormalizingNewlines(
            """
            channel   path                              round trip us     there MB/s      back MB/s  result
            ivshmem   ivshmem://10.0.2.2:7799                   20.50         9000.1         8000.2  ok
            tcp       tcp://10.0.2.2:7799                      300.00           10.3           10.4  ok
            """);
  }

  @Test
  void aChannelThatFailsSaysWhyInItsLine() {
    List<Map<String, Object>> rows =
        rows(
            Map.of(
                "cat",
                CONFIGURATION,
                "GRAFT_SERVER=ivshmem://10.0.2.2:7799",
                "graft: the guest has no PCI device of shared memory (ivshmem)\n"
                    + "result=failed: cuInit(0): CUDA_ERROR_NO_DEVICE (100)\n",
                "GRAFT_SERVER=tcp://10.0.2.2:7799",
                "result=ok\n"));
    assertThat(ChannelTable.of(rows))
        .contains("failed: graft: the guest has no PCI device of shared memory (ivshmem)")
        .contains("tcp       tcp://10.0.2.2:7799");
  }

  @Test
  void itsResultsHaveAChannelAsTheirSetting() {
    ChannelMeasurement measured =
        new ChannelMeasurement(
            Instant.EPOCH,
            List.of(),
            List.of(
                new ChannelMeasurement.Figures("ivshmem://10.0.2.2:7799", Optional.empty()),
                new ChannelMeasurement.Figures(
                    "tcp://10.0.2.2:7799",
                    Optional.of(new ChannelMeasurement.Speed(300, 10.3, 10.4)))));
    assertThat(ChannelTable.results("alice", measured))
        .containsExactly(
            Measurement.of("alice: round trip", 0, "us", 300.0).in("tcp"),
            Measurement.of("alice: there", 0, "MB/s", 10.3).in("tcp"),
            Measurement.of("alice: back", 0, "MB/s", 10.4).in("tcp"));
  }
}
