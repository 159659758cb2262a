package graft.comparison.bench;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.comparison.report.ResultsPlot;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.State;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

class RemotingResultsTest {
  private static final long MIB = 1 << 20;

  private static void add(
      Results results, String setting, String name, long size, String unit, double value) {
    results.add(Measurement.of(name, size, unit, value).in(setting));
  }

  private static Results results() {
    Results results = new Results();
    add(results, "native", "launch-synchronize", 0, "us", 10);
    add(results, "native", "pinned-host-to-device", 65536, "us", 8);
    add(results, "native", "pinned-host-to-device", MIB, "GB/s", 40);
    add(results, "tcp", "start-up-round-trips", 0, "", 7);
    add(results, "tcp", "launch-synchronize", 0, "us", 22);
    add(results, "tcp", "pinned-host-to-device", 65536, "us", 50);
    add(results, "tcp", "pinned-host-to-device", MIB, "GB/s", 9);
    add(results, "tcp", "plain-round-trip", 0, "us", 15);
    add(results, "tcp", "plain-copy", MIB, "GB/s", 10);
    return RemotingResults.withBest(results);
  }

  @Test
  void ratiosAreToNativeAndToWhatTcpCouldDo() {
    assertThat(RemotingResults.table(results()))
        .startsWith("| figure | size | unit | native | tcp | ratio | tcp / best |\n|---|")
        .contains("| launch-synchronize |  | us | 10.0 | 22.0 | 2.20 | 0.73 |")
        .contains("| pinned-host-to-device | 64 KiB | us | 8.00 | 50.0 | 6.25 |  |")
        .contains("| pinned-host-to-device | 1 MiB | GB/s | 40.0 | 9.00 | 0.23 | 0.90 |")
        .contains("| start-up-round-trips |  |  |  | 7.00 |  |  |")
        .contains("| plain-copy | 1 MiB | GB/s |  | 10.0 |  |  |");
  }

  @Test
  void theTailIsAFigureOfItsOwnWithoutABestOverTcp() {
    Results results = results();
    results.addAll(
        Results.printed(
                """
                {"name":"launch-synchronize-p99.9","size":0,"unit":"us","samples":[30,20,25]}
                {"name":"queued-host-to-device-call-p99.9","size":4096,"unit":"us","samples":[4]}
                result=ok
                """)
            .stream()
            .map(figure -> figure.in("native"))
            .toList());
    add(results, "tcp", "launch-synchronize-p99.9", 0, "us", 50);
    add(results, "tcp", "queued-host-to-device-call-p99.9", 4096, "us", 10);
    assertThat(RemotingResults.table(RemotingResults.withBest(results)))
        .contains("| launch-synchronize-p99.9 |  | us | 25.0 | 50.0 | 2.00 |  |")
        .contains("| queued-host-to-device-call-p99.9 | 4 KiB | us | 4.00 | 10.0 | 2.50 |  |");
  }

  @Test
  void theTreeHasEveryValue() {
    assertThat(Json.line(results().tree(Map.of("device", "gpu"))))
        .contains("\"machine\":{\"device\":\"gpu\"}")
        .contains(
            "{\"setting\":\"tcp\",\"name\":\"launch-synchronize\",\"size\":0,\"unit\":\"us\",\"state\":\"warm\",\"samples\":[22.0]}")
        .contains(
            "{\"setting\":\"best over tcp\",\"name\":\"launch-synchronize\",\"size\":0,\"unit\":\"us\",\"state\":\"warm\",\"samples\":[30.0]}");
  }

  @Test
  void theDrawingIsXmlWithALineForEachWay() throws Exception {
    String svg = new ResultsPlot(results(), RemotingResults.NATIVE).draw();
    var document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(3);
    assertThat(svg).doesNotContain("NaN").contains("launch-synchronize");
  }

  @Test
  void theDrawingHasABarForEachState() {
    Results results = new Results();
    for (State state : List.of(State.EMPTY, State.FILLED)) {
      results.add(Measurement.of("start-up", 0, "ms", 1.0).in("native").in(state));
      results.add(Measurement.of("start-up", 0, "ms", 2.0).in("tcp").in(state));
    }
    assertThat(new ResultsPlot(results, RemotingResults.NATIVE).draw())
        .contains("start-up, new process, caches empty", "start-up, new process<")
        .doesNotContain("polyline");
  }
}
