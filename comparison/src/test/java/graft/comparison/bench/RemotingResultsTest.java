package graft.comparison.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.json.Json;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

class RemotingResultsTest {
  private static final String MIB = "1048576";

  private static RemotingResults results() {
    Map<String, Map<Figure, Measured>> ways = new LinkedHashMap<>();
    ways.put(
        "native",
        Measured.parse(
            "launch-synchronize\t0\t10\tus\npinned-host-to-device\t65536\t8\tus\n"
                + "pinned-host-to-device\t"
                + MIB
                + "\t40\tGB/s\n"));
    ways.put(
        "tcp",
        Measured.parse(
            "start-up-round-trips\t0\t7\t\nlaunch-synchronize\t0\t22\tus\n"
                + "pinned-host-to-device\t65536\t50\tus\npinned-host-to-device\t"
                + MIB
                + "\t9\tGB/s\n"));
    ways.put(
        RemotingResults.PLAIN,
        Measured.parse("plain-round-trip\t0\t15\tus\nplain-copy\t" + MIB + "\t10\tGB/s\n"));
    return new RemotingResults(Map.of("device", "gpu"), ways);
  }

  @Test
  void ratiosAreToNativeAndToWhatTcpCouldDo() {
    assertThat(results().table())
        .startsWith("| figure | size | unit | native | tcp | ratio | tcp / best |\n|---|")
        .contains("| launch-synchronize |  | us | 10.0 | 22.0 | 2.20 | 0.73 |")
        .contains("| pinned-host-to-device | 64 KiB | us | 8.00 | 50.0 | 6.25 |  |")
        .contains("| pinned-host-to-device | 1 MiB | GB/s | 40.0 | 9.00 | 0.23 | 0.90 |")
        .contains("| start-up-round-trips |  |  |  | 7.00 |  |  |")
        .contains("| plain-copy | 1 MiB | GB/s |  | 10.0 |  |  |");
  }

  @Test
  void theTreeHasEveryValue() {
    assertThat(Json.line(results().tree()))
        .contains("\"machine\":{\"device\":\"gpu\"}")
        .contains(
            "{\"figure\":\"launch-synchronize\",\"bytes\":0,\"unit\":\"us\",\"values\":{\"native\":10.0,\"tcp\":22.0},"
                + "\"ratios\":{\"tcp\":2.2},\"best-over-tcp\":30.0}");
  }

  @Test
  void theDrawingIsXmlWithALineForEachWay() throws Exception {
    String svg = RemotingPlot.of(results());
    var document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(3);
    assertThat(svg).doesNotContain("NaN").contains("launch-synchronize");
  }

  @Test
  void aLineThatIsNoFigureIsAnError() {
    assertThatThrownBy(() -> Measured.parse("launch 5 us\n"))
        .hasMessageContaining("not a figure: launch 5 us");
  }
}
