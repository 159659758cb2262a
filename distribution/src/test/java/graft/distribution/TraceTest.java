package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft trace} as built: the timeline agrees with what a program does. */
final class TraceTest {
  private static final String GRAFT = Checkout.HOME.resolve("bin/graft").toString();
  private static final String ADD = Checkout.HOME.resolve("examples/built/vectorAdd").toString();

  @TempDir Path folder;

  private Finished trace(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(GRAFT, "trace", "--device", "software"));
    command.addAll(List.of(words));
    return Finished.run(folder, System.getenv(), command);
  }

  private static List<Map<String, Object>> events(Path file) throws IOException {
    List<Map<String, Object>> events = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("{")) {
        events.add(Json.readObject(line.replaceFirst(",$", "")));
      }
    }
    return events;
  }

  private static List<Map<String, Object>> of(List<Map<String, Object>> events, String category) {
    return events.stream().filter(e -> category.equals(e.get("cat"))).toList();
  }

  private static double number(Map<String, Object> event, String key) {
    return ((Number) event.get(key)).doubleValue();
  }

  private static double end(Map<String, Object> event) {
    return number(event, "ts") + number(event, "dur");
  }

  @Test
  void showsKernelsCopiesCallsAndWaitsInTheirOrder() throws Exception {
    Finished program = trace("--", ADD);

    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).contains("result=ok");
    assertThat(program.err())
        .contains("GPU busy", "_Z9vectorAddPKfS0_Pfi", "memcpy HtoD", "waiting calls")
        .contains("the timeline is vectorAdd.trace.json");
    List<Map<String, Object>> events = events(folder.resolve("vectorAdd.trace.json"));
    List<Map<String, Object>> kernels = of(events, "kernel");
    List<Map<String, Object>> copies = of(events, "memcpy");
    assertThat(kernels).singleElement().extracting("name").isEqualTo("_Z9vectorAddPKfS0_Pfi");
    assertThat(copies)
        .extracting("name")
        .containsExactly("memcpy HtoD", "memcpy HtoD", "memcpy DtoH");
    assertThat(copies).extracting("args").containsOnly(Map.of("bytes", 200_000L));
    assertThat(number(kernels.get(0), "ts"))
        .as("the stream's work is in its order")
        .isGreaterThanOrEqualTo(end(copies.get(1)) - 1);
    assertThat(number(copies.get(2), "ts")).isGreaterThanOrEqualTo(end(kernels.get(0)) - 1);
    assertThat(of(events, "call")).extracting("name").contains("cuLaunchKernel");
    Map<String, Object> reads =
        of(events, "wait").stream()
            .filter(e -> e.get("name").equals("copy: bytes from the server"))
            .findFirst()
            .orElseThrow();
    assertThat(end(reads))
        .as("the program waits until the copy is over, within the clocks' error")
        .isGreaterThan(end(copies.get(2)) - 20_000);
    assertThat(folder).isDirectoryNotContaining("glob:**/.graft-trace*");
  }

  @Test
  void aChildsCallsAreThereAndTheExitCodeIsThePrograms() throws Exception {
    Finished program = trace("--out", "both.json", "--", "sh", "-c", ADD + "; " + ADD + "; exit 3");

    assertThat(program.code()).as("%s", program).isEqualTo(3);
    List<Map<String, Object>> kernels = of(events(folder.resolve("both.json")), "kernel");
    assertThat(kernels).hasSize(2);
    assertThat(kernels.get(0).get("pid")).as("a GPU's row").isNotEqualTo(kernels.get(1).get("pid"));

    Finished json =
        Finished.run(
            folder,
            System.getenv(),
            List.of(GRAFT, "bench", "timeline", "--output", "json", "both.json"));
    assertThat(Json.readObject(json.out())).containsEntry("gpus", 2L);
  }

  /** Graphs, captures, several streams and contexts that end: a program that checks itself. */
  @Test
  void aProgramDoesTheSameWithATimeline() throws Exception {
    Programs.build(folder, List.of("driver"));
    Finished program = trace("--out", "driver.json", "--", folder.resolve("driver").toString());

    assertThat(program.code()).as("%s", program).isZero();
    List<Map<String, Object>> events = events(folder.resolve("driver.json"));
    assertThat(of(events, "graph")).isNotEmpty();
    assertThat(of(events, "memset")).isNotEmpty();
  }

  @Test
  void refusesToWriteOverAFile() throws Exception {
    Files.writeString(folder.resolve("here.json"), "mine");
    Finished program = trace("--out", "here.json", "--", ADD);

    assertThat(program.code()).isEqualTo(125);
    assertThat(program.err()).contains("here.json exists");
    assertThat(folder.resolve("here.json")).hasContent("mine");

    assertThat(trace("--", ADD).code()).isZero();
    assertThat(trace("--", ADD).err()).contains("the timeline is vectorAdd-2.trace.json");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .contains("vectorAdd.trace.json", "vectorAdd-2.trace.json");
    }
  }

  @Test
  void aProgramRunsWithoutATimelineThatCannotBeWritten() throws Exception {
    Finished program =
        Finished.run(
            folder,
            System.getenv(),
            List.of(
                GRAFT, "run", "--device", "software", "--", "env", "GRAFT_TRACE=none/trace", ADD));

    assertThat(program.code()).isZero();
    assertThat(program.err()).contains("GRAFT_TRACE: cannot write none/trace: No such file");
    assertThat(trace("--", "true").err()).contains("called no CUDA function");
  }
}
