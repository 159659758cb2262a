package graft.provisioner.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What verify --channels makes of what a guest's programs print. */
class ChannelProbeTest {
  private static final String CONFIGURATION =
      "# Written by graft.\nserver = ivshmem://10.0.2.2:7799, tcp://10.0.2.2:7799\nname = alice\n";

  private static List<Map<String, Object>> rows(Map<String, String> outputs) {
    return new ChannelProbe(words -> outputs.get(words.get(words.size() > 2 ? 1 : 0))).rows();
  }

  @Test
  void eachChannelOfTheGuestHasARow() {
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
    assertThat(ChannelProbe.allWork(rows)).isTrue();
    assertThat(ChannelProbe.table(rows))
        .isEqualToNormalizingNewlines(
            """
            channel   path                              round trip us     there MB/s      back MB/s  result
            ivshmem   ivshmem://10.0.2.2:7799                   20.50         9000.1         8000.2  ok
            tcp       tcp://10.0.2.2:7799                      300.00           10.3           10.4  ok
            """);
    assertThat(ChannelProbe.choice(rows))
        .isEqualTo("the client takes ivshmem://10.0.2.2:7799, and none is faster");
  }

  @Test
  void aChannelThatFailsSaysWhyAndTheOthersAreMeasured() {
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
    assertThat(ChannelProbe.allWork(rows)).isFalse();
    assertThat(ChannelProbe.table(rows))
        .contains("failed: graft: the guest has no PCI device of shared memory (ivshmem)")
        .contains("tcp       tcp://10.0.2.2:7799");
  }

  private static Map<String, Object> row(String path, String roundTrip, String bandwidth) {
    return Map.of(
        "path",
        path,
        "round_trip_us",
        roundTrip,
        "pinned_to_device_mb_s",
        bandwidth,
        "result",
        "ok");
  }

  @Test
  void aFasterChannelThanTheOneTakenIsNamedUnlessItIsNoise() {
    Map<String, Object> broken = Map.of("path", "ivshmem://a:1", "result", "failed: no");
    Map<String, Object> rdma = row("rdma://a:1", "90.0", "100");
    assertThat(ChannelProbe.choice(List.of(broken, rdma, row("tcp://a:1", "80.0", "120"))))
        .isEqualTo("the client takes rdma://a:1, and none is faster");
    assertThat(ChannelProbe.choice(List.of(broken, rdma, row("tcp://a:1", "40.0", "300"))))
        .isEqualTo(
            "the client takes rdma://a:1, but tcp://a:1 has a shorter round trip; tcp://a:1 carries"
                + " more: vgpu: {channel: ...} in the descriptor chooses");
    assertThat(ChannelProbe.choice(List.of(broken)))
        .isEqualTo("the client has no channel that works");
  }
}
