package graft.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.session.Servers;
import graft.cli.ui.Refreshed.Seen;
import graft.common.json.Json;
import graft.deployment.OperatedServer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The tables of the page, from what status and sessions have answered. */
class RoomTest {
  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> rows(Map<String, Object> room, String table) {
    return (List<Map<String, Object>>) room.get(table);
  }

  private static Map<String, Object> row(
      Map<String, Object> room, String table, String key, String value) {
    return rows(room, table).stream()
        .filter(row -> value.equals(row.get(key)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aSessionHasItsShareAndItsMemoryAndNoZeroForWhatNobodyKnows() throws Exception {
    Map<String, Object> room = RecordedRoom.tree();
    assertThat(row(room, "sessions", "guest", "service"))
        .containsEntry("asked", 0.5)
        .containsEntry("got", 0.52)
        .containsEntry("memoryLimitBytes", 8589934592L)
        .containsEntry("server", "lab/gpu0");
    Map<String, Object> batch = row(room, "sessions", "guest", "batch");
    assertThat(batch)
        .containsEntry("asked", null)
        .containsEntry("got", null)
        .containsEntry("gpuSeconds", null)
        .containsEntry("memoryLimitBytes", null)
        .containsEntry("claimedProgram", null);
  }

  @Test
  void aServedGpuHasWhatItsServerAnswers() throws Exception {
    Map<String, Object> room = RecordedRoom.tree();
    assertThat(rows(room, "gpus")).hasSize(3);
    assertThat(row(room, "gpus", "server", "lab/gpu0"))
        .containsEntry("answers", true)
        .containsEntry("sessions", 3)
        .containsEntry("waiting", 2)
        .containsEntry("got", null) // unknown of one session
        .containsEntry("memoryBytes", 6442450944.0 + 16642998272.0 + 1073741824.0)
        .containsEntry("problem", null);
    assertThat(row(room, "gpus", "server", "lab/gpu1"))
        .containsEntry("answers", false)
        .containsEntry("state", "stopped")
        .containsEntry("sessions", null)
        .containsEntry("memoryBytes", null)
        .containsEntry(
            "problem", "the server at /run/graft-server/lab.gpu1/operator.sock has ended");
    assertThat(row(room, "gpus", "server", "31337"))
        .containsEntry("sessions", 0)
        .containsEntry("got", 0.0)
        .containsEntry("problem", "GPU 0 reported Xid 79");
  }

  @Test
  void aGuestHasTheSumOfItsSessions() throws Exception {
    Map<String, Object> room = RecordedRoom.tree();
    assertThat(row(room, "guests", "guest", "trial"))
        .containsEntry("sessions", 1)
        .containsEntry("asked", 0.25)
        .containsEntry("got", 0.28)
        .containsEntry("client", "stale")
        .containsEntry("memoryLimitBytes", 17179869184L);
    assertThat(row(room, "guests", "guest", "old"))
        .containsEntry("state", "shut off")
        .containsEntry("since", "2026-11-26T04:12:09Z")
        .containsEntry("sessions", 0)
        .containsEntry("answers", null);
    assertThat(row(room, "guests", "guest", "vm7"))
        .as("no server of its deployment has answered")
        .containsEntry("sessions", null)
        .containsEntry("memoryBytes", null);
  }

  @Test
  void aDeploymentSaysWhatDiffersAndADamagedOneHidesNoOther() throws Exception {
    Map<String, Object> room = RecordedRoom.tree();
    assertThat(rows(room, "deployments"))
        .extracting(row -> row.get("deployment") + " " + row.get("drift") + " " + row.get("wrong"))
        .containsExactly("lab differs 1", "cloud unknown 0", "broken unknown null");
    assertThat(rows(room, "plan"))
        .extracting(row -> row.get("deployment") + " " + row.get("kind"))
        .containsExactly(
            "lab apply would",
            "lab apply would",
            "lab wrong now",
            "cloud not compared",
            "broken damaged");
  }

  @Test
  void whatNobodyHasLookedAtYetIsEmptyAndHasNoAge() {
    Map<String, Object> room = Room.tree(new Seen<>(null, null, null), new Seen<>(null, null, "x"));
    assertThat(rows(room, "gpus")).isEmpty();
    assertThat((Map<?, ?>) room.get("status")).extracting("ageSeconds").isNull();
    assertThat((Map<?, ?>) room.get("live")).extracting("problem").isEqualTo("x");
    assertThat(Json.line(room)).startsWith("{\"formatVersion\":1,");
  }

  @Test
  void aServerThatIsNotSoundChangesNoTypeAndMakesNoPageOfAnySize() {
    Map<String, Object> hostile =
        Map.of(
            "guest",
            "e".repeat(100_000),
            "session",
            Map.of("a", 1),
            "claimedPid",
            "<script>",
            "gpuSeconds",
            "NaN",
            "seconds",
            Double.NaN,
            "memoryBytes",
            List.of(),
            "compute",
            Double.POSITIVE_INFINITY,
            "waiting",
            7);
    Map<String, Object> tree =
        Map.of(
            "server",
            Map.of("waiting", 1, "gpus", List.of("x"), "listen", Map.of()),
            "sessions",
            Arrays.asList(hostile, null, "no session", List.of()));
    Servers.Answer answer =
        new Servers.Answer(
            new OperatedServer(Optional.of("lab"), "gpu0", Path.of("/s"), Optional.empty()), tree);
    Map<String, Object> room =
        Room.tree(
            new Seen<>(null, null, null),
            new Seen<>(new Live(List.of(answer), Map.of()), Instant.now(), null));
    Map<String, Object> row = rows(room, "sessions").get(0);
    assertThat(row.get("guest").toString()).hasSizeLessThan(400);
    for (String key : List.of("claimedPid", "gpuSeconds", "memoryBytes", "asked", "waiting")) {
      assertThat(row).as(key).containsEntry(key, null);
    }
    assertThat(rows(room, "sessions")).hasSize(1);
    assertThat(Json.line(room)).hasSizeLessThan(4000);
    Map<String, Object> flood = Map.of("sessions", Collections.nCopies(50_000, hostile));
    Map<String, Object> flooded =
        Room.tree(
            new Seen<>(null, null, null),
            new Seen<>(
                new Live(List.of(new Servers.Answer(answer.from(), flood)), Map.of()),
                Instant.now(),
                null));
    assertThat(rows(flooded, "sessions")).hasSize(1000);
  }
}
