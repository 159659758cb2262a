package graft.comparison.trace;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TimelineTest {
  private static final Offset<Double> CLOSE = Offset.offset(1e-6);

  @TempDir Path folder;

  private static String event(String category, String name, double start, double lasted, int pid) {
    return Json.line(
            Map.of(
                "ph", "X", "cat", category, "name", name, "ts", start, "dur", lasted, "pid", pid,
                "tid", 1))
        .strip();
  }

  private Path file(String text) throws IOException {
    return Files.writeString(Files.createTempFile(folder, "trace", ".json"), text);
  }

  private Path file(List<String> events) throws IOException {
    return file("[\n" + String.join(",\n", events) + "\n]\n");
  }

  @Test
  void sumsByNameAndUnitesWhatRanAtTheSameTime() throws Exception {
    TimelineSummary summary =
        TimelineSummary.of(
            file(
                List.of(
                    event("call", "cuLaunchKernel", 0, 2, 1),
                    event("wait", "cuCtxSynchronize", 2, 98, 1),
                    event("kernel", "add", 10, 30, 9),
                    event("kernel", "add", 60, 10, 9),
                    event("memcpy", "memcpy HtoD", 30, 20, 9),
                    event("kernel", "add", 10, 30, 8))));

    Map<String, Object> tree = summary.tree();
    assertThat((double) tree.get("wallMs")).isCloseTo(0.1, CLOSE);
    assertThat((double) tree.get("gpuBusyMs"))
        .as("40 + 10, and 30 of another GPU")
        .isCloseTo(0.08, CLOSE);
    assertThat(tree).containsEntry("gpus", 2).containsEntry("calls", 2L);
    assertThat((List<?>) tree.get("work"))
        .first()
        .isEqualTo(
            Map.of(
                "kind", "kernel", "name", "add", "count", 3L, "totalMs", 0.07, "longestMs", 0.03));
    assertThat(summary.text(1))
        .contains("2 GPUs busy           0.080 ms")
        .contains("in 1 calls that wait for the server, of 2")
        .containsPattern("kernel add +3 +0\\.070 +23\\.3 +30\\.0 +77\\.8")
        .contains("and 1 more names")
        .containsPattern("cuCtxSynchronize +1 +0\\.098");
  }

  @Test
  void mergesTheFilesOfSeveralProcessesAndOfOneThatWasKilled() throws Exception {
    Path whole = file(List.of(event("call", "a", 1, 1, 1), event("call", "b", 2, 1, 1)));
    Path killed = file("[\n" + event("call", "c", 3, 1, 2) + ",\n{\"ph\":\"X\",\"ca");
    Path to = folder.resolve("all.json");

    assertThat(TimelineFile.merge(List.of(whole, killed, file("")), to)).isEqualTo(3);
    assertThat(Files.readString(to))
        .isEqualTo(
            "[\n"
                + String.join(
                    ",\n",
                    event("call", "a", 1, 1, 1),
                    event("call", "b", 2, 1, 1),
                    event("call", "c", 3, 1, 2))
                + "\n]\n");
    assertThat(TimelineSummary.of(to).tree()).containsEntry("calls", 3L);
    assertThat(TimelineFile.merge(List.of(), to)).isZero();
    assertThat(Files.readString(to)).isEqualTo("[\n]\n");
  }

  /** A file comes from a guest, which may have written anything to it. */
  @Test
  void aHostileFileHarmsNobody() throws Exception {
    TimelineSummary none =
        TimelineSummary.of(
            file(
                "[\n{}\n{\"cat\":1}\n{\"cat\":\"kernel\",\"name\":\"x\",\"ts\":1,\"dur\":-5,\"pid\":1}\n"
                    + "{\"cat\":\"kernel\",\"name\":\"x\",\"ts\":1e999,\"dur\":5,\"pid\":1}\n"
                    + "{\"cat\":\"kernel\",\"name\":[],\"ts\":\"1\",\"dur\":5,\"pid\":1}\n"
                    + "{\"cat\":\"unknown\",\"name\":\"x\",\"ts\":1,\"dur\":5,\"pid\":1}\n"
                    + "{".repeat(100_000)
                    + "}\n\0\0\0\n"));
    assertThat(none.isEmpty()).isTrue();
    assertThat(none.text(10)).contains("0.000 ms");

    TimelineSummary commands =
        TimelineSummary.of(
            file(List.of(event("kernel", "\u001b[2J\u202eevil\u009b" + "x".repeat(300), 1, 1, 1))));
    assertThat(commands.text(10))
        .contains("kernel ?[2J?evil?xxx")
        .doesNotContain("\u001b", "\u009b");

    StringBuilder many = new StringBuilder("[\n");
    for (int i = 0; i < 30_000; i++) {
      many.append(event("wait", "name " + i, i, 1, 1)).append(",\n");
    }
    List<?> waits = (List<?>) TimelineSummary.of(file(many.toString())).tree().get("waits");
    assertThat(waits).hasSize(20_001);
  }

  @Test
  void busyTimeIsThatOfTheUnion() {
    Random random = new Random(1);
    BusyTime busy = new BusyTime();
    boolean[] was = new boolean[1000];
    for (int i = 0; i < 300; i++) {
      int from = random.nextInt(990);
      int to = from + random.nextInt(10);
      busy.add(from, to);
      for (int at = from; at < to; at++) {
        was[at] = true;
      }
    }
    int expected = 0;
    for (boolean one : was) {
      expected += one ? 1 : 0;
    }
    assertThat(busy.total()).isCloseTo(expected, CLOSE);
  }
}
