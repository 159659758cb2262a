package graft.comparison.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import graft.comparison.Suites;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.run.Entry;
import graft.comparison.run.Noise;
import graft.comparison.run.Result;
import graft.comparison.suite.Published;
import graft.comparison.suite.Quantity;
import graft.comparison.suite.Suite;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {
  private static final Suite SUITE =
      Suites.of(
          List.of("native", "shm", "vm-local"),
          List.of("bandwidth", "kernels", "synthetic", "multiplex"),
          5);
  private static final Noise QUIET = new Noise(0, 0.1, 2000, 0, 1980, 61);

  @TempDir Path folder;
  private final List<Entry> log = new ArrayList<>();

  private void run(int block, String setting, String key, Measurement... figures) {
    log.add(new Entry.Run(block, setting, key, Result.OK, "", 1, List.of(figures), QUIET));
  }

  @BeforeEach
  void measureWithFourFifthsMoreOverShm() {
    Map<String, String> machine = Map.of("device", "Graft's software device", "host", "2 × CPU");
    log.add(new Entry.Begin("digest", "test", 7, "2026-01-01T00:00:00Z", machine));
    log.add(new Entry.Impossible("vm-local", "no <libvirt> & no KVM"));
    for (int block = 1; block <= 5; block++) {
      for (String setting : List.of("native", "shm")) {
        double slower = (setting.equals("shm") ? 1.8 : 1.0) * (1 + block / 100.0);
        run(
            block,
            setting,
            "bandwidth",
            Measurement.of("h2d-pinned", 1024, "MB/s", 100 / slower),
            Measurement.of("h2d-pinned", 1 << 20, "MB/s", 9000 / slower));
        run(block, setting, "kernels", Measurement.of("walsh", 0, "ms", 3 * slower));
        run(
            block,
            setting,
            "synthetic/35%/both/256K-1M",
            Measurement.of("time", 0, "ms", 100 * slower),
            Measurement.of("transfer", 0, "ms", 35 * slower),
            Measurement.of("compute", 0, "ms", 65 * slower));
        run(block, setting, "multiplex/x1", Measurement.of("slowest", 0, "ms", 10 * slower));
        run(block, setting, "multiplex/x2", Measurement.of("slowest", 0, "ms", 18 * slower));
      }
    }
    log.add(
        new Entry.Run(5, "shm", "kernels", Result.FAILED, "a wrong price", 1, List.of(), QUIET));
  }

  private String html() throws Exception {
    Published figure =
        new Published(
            "A paper, table I",
            "walsh",
            "ms",
            Optional.of("host"),
            List.of(
                new Published.PublishedValue("host", new Quantity(18.6)),
                new Published.PublishedValue("rCUDA", new Quantity(467.6))),
            Optional.of("kernels"),
            Optional.of("walsh"));
    ReportFolder reports = ReportFolder.open(folder);
    reports.write(new Findings(SUITE, log), List.of(figure), "compare: 1 # <suite>");
    return Files.readString(reports.html());
  }

  @Test
  void isWellFormedAndNeedsNothingElse() throws Exception {
    String html = html();
    String xml = html.replace("<!DOCTYPE html>", "");
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
    assertThat(html).doesNotContain("<script").doesNotContain("http://").doesNotContain("https://");
  }

  @Test
  void saysWhatCouldNotBeMeasuredAndWhy() throws Exception {
    assertThat(html())
        .contains("not possible on this site")
        .contains("no &lt;libvirt&gt; &amp; no KVM")
        .contains("a wrong price");
  }

  @Test
  void saysWhatRunsWhere() throws Exception {
    assertThat(html())
        .contains("4 of 5 programs ran in every setting")
        .contains("<th>kernels</th><td>ok</td><td>5 of 6 ok</td><td>not possible</td>")
        .doesNotContain("<th>multiplex/x2</th><td>ok</td>");
    assertThat(Files.readString(folder.resolve("appendix.html")))
        .contains("<th>kernels</th><td>ok</td><td>5 of 6 ok</td><td>not possible</td>")
        .contains("<th>multiplex/x2</th><td>ok</td><td>ok</td><td>not possible</td>");
  }

  @Test
  void saysThatItStoppedUntilItGoesOn() throws Exception {
    log.add(new Entry.Stopped("No space left on device"));
    assertThat(html()).contains("The comparison stopped: No space left on device");
    log.add(new Entry.Down(5, "shm"));
    assertThat(html()).doesNotContain("The comparison stopped");
  }

  @Test
  void declaresSoftwareDeviceFigures() throws Exception {
    assertThat(html()).contains("These are software-device figures");
  }

  @Test
  void warnsOfAMachineThatWasBusyWithOtherWork() throws Exception {
    assertThat(html()).doesNotContain("The machine was busy");
    Entry.Begin begin = (Entry.Begin) log.get(0);
    log.set(0, new Entry.Begin("digest", "test", 7, begin.at(), Map.of("processors", "2")));
    log.add(
        new Entry.Run(
            5, "shm", "launch", Result.OK, "", 1, List.of(), new Noise(0, 25, 2000, 0, 0, 0)));
    assertThat(html()).contains("a load of up to 25.0 on 2 processors");
  }

  @Test
  void notesWhatElseWentOn() throws Exception {
    assertThat(html()).contains("its temperature at most 61.0 °C");
    log.add(new Entry.Ready(1, "shm", 1, 0));
    log.add(new Entry.ShutOff("web"));
    assertThat(html()).contains("shut off for it: web");
  }

  @Test
  void findsTheOverheadOfTimesAndOfRates() throws Exception {
    Findings findings = new Findings(SUITE, log);
    for (FigureKey key : findings.figures()) {
      assertThat(findings.overhead(key, "shm").orElseThrow().ratio()).isBetween(1.79, 1.81);
    }
    assertThat(html()).contains("+80%");
  }

  @Test
  void putsPublishedFiguresBesideOurs() throws Exception {
    assertThat(html()).contains("rCUDA 468 (25.1 times)").contains("measured here: kernels");
  }

  @Test
  void writesEveryObservationForPrograms() throws Exception {
    html();
    List<String> lines = Files.readAllLines(folder.resolve("results.csv"));
    assertThat(lines).hasSize(1 + 2 * 5 * 8);
    assertThat(lines.get(1))
        .isEqualTo("native,bandwidth,bandwidth,h2d-pinned,1024,MB/s,warm,1,99.0099010,false");
    JsonNode json = new ObjectMapper().readTree(folder.resolve("results.json").toFile());
    assertThat(json.path("measurements")).hasSize(2 * 8);
    Results read = new Results().add(folder.resolve("results.json"));
    assertThat(read.measurements()).hasSize(2 * 8);
    assertThat(read.settings()).containsExactly("native", "shm");
    assertThat(json.path("softwareDevice").asBoolean()).isTrue();
    assertThat(json.path("impossible").path("vm-local").asText()).contains("libvirt");
  }

  @Test
  void keepsRoomForTheReportOnADiskThatFills() throws Exception {
    ReportFolder reports = ReportFolder.open(folder);
    assertThat(folder.resolve(".room")).hasSize(8 << 20);
    reports.write(new Findings(SUITE, log), List.of(), "");
    assertThat(folder.resolve(".room")).doesNotExist();
  }
}
