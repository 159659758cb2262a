package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.ChannelMeasurement.Figures;
import graft.deployment.state.ChannelMeasurement.Speed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    assertThat(rows)
        .extracting(row -> row.get("channel"), row -> row.get(ChannelProbe.ROUND_TRIP))
        .containsExactly(tuple("ivshmem", "20.50"), tuple("tcp", "300.00"));
  }

  @Test
  void whatIsKeptHasTheFiguresAndWhatDoesNotWork() {
    Map<String, Object> silent = Map.of("path", "rdma://a:1", "result", "ok");
    List<Map<String, Object>> rows = List.of(BROKEN, silent, row("tcp://a:1", "16.50", "900.5"));
    Instant when = Instant.parse("2026-01-02T03:04:05.678Z");
    assertThat(ChannelProbe.measurement(rows, List.of("basis"), when))
        .as("one that ran without figures was not measured")
        .isEqualTo(
            new ChannelMeasurement(
                Instant.parse("2026-01-02T03:04:05Z"),
                List.of("basis"),
                List.of(
                    new Figures("ivshmem://a:1", Optional.empty()),
                    new Figures("tcp://a:1", Optional.of(new Speed(16.5, 900.5, 900.5))))));
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
    assertThat(rows.get(0).get("result").toString())
        .contains("failed: graft: the guest has no PCI device of shared memory (ivshmem)");
    assertThat(rows.get(1))
        .containsEntry("channel", "tcp")
        .containsEntry("path", "tcp://10.0.2.2:7799")
        .containsEntry("result", "ok");
  }

  @Test
  void aGuestThatSaysSomethingElseIsNotMeasured() {
    List<Map<String, Object>> hostile =
        rows(
            Map.of(
                "cat",
                "server = -oProxyCommand=x, $(id), tcp://;id:1, tcp://10.0.2.2:7799, x://"
                    + "y".repeat(300)
                    + "\n",
                "GRAFT_SERVER=tcp://10.0.2.2:7799",
                "channel=tcp\npath=/etc/passwd\nround_trip_us=NaN\npinned_to_device_mb_s=1e999\n"
                    + "pinned_to_host_mb_s=$(id)\nresult=ok\n"));
    assertThat(hostile).extracting(row -> row.get("path")).containsExactly("tcp://10.0.2.2:7799");
    assertThat(ChannelProbe.measurement(hostile, List.of(), Instant.EPOCH).channels()).isEmpty();
    String endless = "server = " + "tcp://a:1, ".repeat(10_000);
    assertThat(new ChannelProbe(words -> words.get(0).equals("cat") ? endless : "").rows())
        .as("each is a run of a program")
        .hasSizeLessThan(100);
  }

  @Test
  void eachChannelOfSeveralServersIsMeasuredWithTheTokenOfItsServer() {
    String configuration =
        "server = shm:///a, unix:///a; tcp://b:1; tcp://c:1\n"
            + "token-file = /etc/graft/token; /t.b; /$(id) x\n";
    List<String> commands = new ArrayList<>();
    List<Map<String, Object>> rows =
        new ChannelProbe(
                words -> {
                  commands.add(String.join(" ", words));
                  return words.get(0).equals("cat") ? configuration : "result=ok\n";
                })
            .rows();
    assertThat(rows)
        .extracting(row -> row.get("path"))
        .containsExactly("shm:///a", "unix:///a", "tcp://b:1", "tcp://c:1");
    assertThat(commands.subList(1, 5))
        .extracting(command -> command.replaceFirst(" [^ ]*$", ""))
        .containsExactly(
            "env GRAFT_SERVER=shm:///a GRAFT_TOKEN_FILE=/etc/graft/token",
            "env GRAFT_SERVER=unix:///a GRAFT_TOKEN_FILE=/etc/graft/token",
            "env GRAFT_SERVER=tcp://b:1 GRAFT_TOKEN_FILE=/t.b",
            "env GRAFT_SERVER=tcp://c:1");
  }

  private static final Map<String, Object> BROKEN =
      Map.of("path", "ivshmem://a:1", "result", "failed: no");

  private static Map<String, Object> row(String path, String roundTrip, String bandwidth) {
    return Map.of(
        "path",
        path,
        "round_trip_us",
        roundTrip,
        "pinned_to_device_mb_s",
        bandwidth,
        "pinned_to_host_mb_s",
        bandwidth,
        "result",
        "ok");
  }

  /** What verify says of a guest with these rows. */
  private static String choice(
      List<Map<String, Object>> rows, ChannelChoice.By by, String... order) {
    List<String> addresses = List.of(order);
    return ChannelProbe.choice(
        rows,
        Optional.of(
            new ChannelChoice("alice", addresses, addresses, by, "THE REASON", Optional.empty())),
        "/d/lab.yaml");
  }

  @Test
  void theOrderThatAutoWouldTakeIsSaidWithTheWayToIt() {
    List<Map<String, Object>> rows =
        List.of(BROKEN, row("rdma://a:1", "90.0", "100"), row("tcp://a:1", "40.0", "300"));
    ChannelChoice.By measured = ChannelChoice.By.MEASURED;
    assertThat(choice(rows, measured, "tcp://a:1", "rdma://a:1", "ivshmem://a:1"))
        .isEqualTo(
            "the client takes rdma://a:1; auto would try tcp://a:1, rdma://a:1, ivshmem://a:1 in"
                + " this order (THE REASON): run graft apply /d/lab.yaml");
    assertThat(choice(rows, measured, "ivshmem://a:1", "rdma://a:1", "tcp://a:1"))
        .isEqualTo("the client takes rdma://a:1, and none is faster");
    assertThat(choice(rows, measured, "rdma://b:1", "tcp://b:1"))
        .isEqualTo(
            "the client takes rdma://a:1, as its configuration says, which is not as Graft wrote"
                + " it");
    assertThat(choice(rows, ChannelChoice.By.ONLY_CHANNEL, "rdma://a:1"))
        .isEqualTo("the client takes rdma://a:1; THE REASON");
    assertThat(ChannelProbe.choice(rows, Optional.empty(), "/d/lab.yaml"))
        .isEqualTo("the client takes rdma://a:1, as a configuration says that Graft did not write");
    assertThat(choice(List.of(BROKEN), measured, "ivshmem://a:1"))
        .isEqualTo("the client has no channel that works");
  }
}
