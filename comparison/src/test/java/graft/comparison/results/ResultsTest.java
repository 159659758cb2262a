package graft.comparison.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResultsTest {
  @TempDir Path folder;

  private Results read(String... lines) throws Exception {
    Path file = folder.resolve("results.jsonl");
    Files.writeString(file, String.join("\n", lines));
    return new Results().add(file);
  }

  private static String line(String setting, String samples) {
    return "{\"setting\":\""
        + setting
        + "\",\"name\":\"copy\",\"unit\":\"us\",\"samples\":["
        + samples
        + "]}";
  }

  @Test
  void linesOfOneFigureAddSamplesToEachOther() throws Exception {
    Results results = read(line("tcp", "1,2"), line("shm", "9"), line("tcp", "6"));
    assertThat(results.settings()).containsExactly("tcp", "shm");
    assertThat(results.measurements()).hasSize(2);
    assertThat(results.measurements().get(0).samples()).containsExactly(1.0, 2.0, 6.0);
    assertThat(results.measurements().get(0).value()).isEqualTo(2);
  }

  @Test
  void whatALineLacksHasItsDefault() throws Exception {
    Measurement read = read("{\"name\":\"trips\",\"samples\":[3]}").measurements().get(0);
    assertThat(read).isEqualTo(Measurement.of("trips", 0, "", 3.0));
    assertThat(read.state()).isEqualTo(State.WARM);
  }

  @Test
  void whatWasWrittenIsReadAgain() throws Exception {
    Results results =
        read(
            "{\"setting\":\"native\",\"name\":\"gpt2\",\"unit\":\"ms\",\"state\":\"empty\",\"samples\":[5,null]}",
            line("tcp", "1.5"));
    Path written = folder.resolve("written.json");
    Files.writeString(written, Json.pretty(results.tree(java.util.Map.of("device", "gpu"))));
    assertThat(new Results().add(written).measurements()).isEqualTo(results.measurements());
  }

  @Test
  void aReferenceMeasuredAroundEachSampleIsItsMeanOfTwo() throws Exception {
    Results results = read(line("wire", "100,200,null,400"), line("rdma", "75,100,null"));
    Measurement figure = results.figures().get(0);
    // 75 is compared with the mean of 100 and 200, 100 with 200 alone; the third sample failed.
    assertThat(results.ratiosAround("rdma", "wire", figure)).containsExactly(0.5, 0.5);
    assertThat(new ResultsTable(results).ratioAround("ratio", "rdma", "wire").toString())
        .contains("| 0.50 [0.50 to 0.50] |");
    assertThat(results.ratio("rdma", "wire", figure)).contains(87.5 / 200);
  }

  @Test
  void aSettingThatAlwaysFailedHasNoRatio() throws Exception {
    Results results = read(line("native", "1"), line("tcp", "null,null"));
    assertThat(results.ratio("tcp", "native", results.figures().get(0))).isEmpty();
    assertThat(results.ratiosAround("tcp", "native", results.figures().get(0))).isEmpty();
    assertThat(new ResultsTable(results).spread("tcp").toString()).contains("| failed |");
  }

  @Test
  void theTableSaysTheRangeAndTheStateWhereThereAreSeveral() throws Exception {
    Results results =
        read(
            "{\"setting\":\"shm\",\"name\":\"gpt2\",\"unit\":\"ms\",\"state\":\"empty\",\"samples\":[30]}",
            "{\"setting\":\"shm\",\"name\":\"gpt2\",\"unit\":\"ms\",\"state\":\"warm\",\"samples\":[3,1,null,2]}");
    assertThat(new ResultsTable(results).spread("shm").toString())
        .isEqualTo(
            """
            | figure | state | unit | shm |
            |---|---|---|---|
            | gpt2 | new process, caches empty | ms | 30.0 |
            | gpt2 | warm | ms | 2.00 [1.00 to 3.00], 1 of 4 failed |
            """);
  }

  @Test
  void aFileThatIsNoneIsNamed() {
    assertThatThrownBy(() -> read("copy 5 us"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("results.jsonl is not a results file");
    assertThatThrownBy(() -> read("{\"samples\":[1]}"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("lacks 'name'");
    assertThatThrownBy(() -> read("{\"name\":\"copy\"}"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("lacks 'samples'");
  }

  @Test
  void onlyMeasurementsOfAnOutputAreRead() {
    assertThat(
            Results.printed(
                "device\tsome\n{\"name\":\"walsh\",\"size\":0,\"unit\":\"ms\",\"samples\":[3]}\nresult=ok\n"))
        .containsExactly(Measurement.of("walsh", 0, "ms", 3.0));
    assertThatThrownBy(() -> Results.printed("{\"name\":\"walsh\", 3 ms"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"name\":7,\"samples\":[1]}",
        "{\"name\":\"a\",\"samples\":[\"1\"]}",
        "{\"name\":\"a\",\"samples\":[true]}",
        "{\"name\":\"a\",\"samples\":[[1]]}",
        "{\"name\":\"a\",\"samples\":{\"0\":1}}",
        "{\"name\":\"a\",\"samples\":[]}",
        "{\"name\":\"a\",\"samples\":[1],\"size\":1.5}",
        "{\"name\":\"a\",\"samples\":[1],\"size\":99999999999999999999}",
        "{\"name\":\"a\",\"samples\":[1],\"state\":\"cold\"}",
        "{\"name\":\"a\",\"samples\":[1],\"unit\":[]}"
      })
  void aLineThatAGuestMadeUpIsRefused(String line) {
    assertThatThrownBy(() -> Results.printed(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("not a measurement: ");
  }
}
