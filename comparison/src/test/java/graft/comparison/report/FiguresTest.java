package graft.comparison.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import graft.common.program.HostProgram;
import graft.comparison.Suites;
import graft.comparison.results.Measurement;
import graft.comparison.run.Entry;
import graft.comparison.run.Noise;
import graft.comparison.run.Result;
import graft.comparison.suite.Suite;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class FiguresTest {
  /** Debian's, which has Debian's matplotlib. */
  private static final String PYTHON = "/usr/bin/python3";

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Suite SUITE =
      Suites.of(
          List.of("native", "shm"), List.of("bandwidth", "kernels", "synthetic", "multiplex"), 3);
  private static final String CASE = "synthetic/35%/both/256K-1M";
  private static final Noise QUIET = new Noise(0, 0.1, 2000, 0, 1980, 61);

  /** The name of a figure that a program of the user might print. */
  private static final String ATTACK = "../../x\"</text><script>a,b</script>\n$(touch owned)";

  @TempDir Path folder;
  private final List<Entry> log = new ArrayList<>();

  private void run(int block, String setting, String key, Measurement... figures) {
    log.add(new Entry.Run(block, setting, key, Result.OK, "", 1, List.of(figures), QUIET));
  }

  @BeforeEach
  void measure() {
    log.add(new Entry.Begin("digest", "test", 7, "2026-01-01T00:00:00Z", Map.of()));
    for (int block = 1; block <= 3; block++) {
      for (String setting : List.of("native", "shm")) {
        double slower = (setting.equals("shm") ? 1.8 : 1.0) * (1 + block / 100.0);
        run(
            block,
            setting,
            "bandwidth",
            Measurement.of("h2d-pinned", 1024, "MB/s", 100 / slower),
            Measurement.of("h2d-pinned", 1 << 20, "MB/s", 9000 / slower));
        run(block, setting, "kernels", Measurement.of(ATTACK, 0, "ms", 3 * slower));
        run(
            block,
            setting,
            CASE,
            Measurement.of("time", 0, "ms", 100 * slower),
            Measurement.of("transfer", 0, "ms", 35 * slower),
            Measurement.of("compute", 0, "ms", 65 * slower));
        run(block, setting, "multiplex/x1", Measurement.of("slowest", 0, "ms", 10 * slower));
        run(block, setting, "multiplex/x2", Measurement.of("slowest", 0, "ms", 18 * slower));
      }
    }
  }

  /** A profile of three blocks in which transfers have this share of transfers and kernels. */
  private void profile(double percent) {
    for (int block = 1; block <= 3; block++) {
      double transfer = percent + block / 10.0;
      log.add(
          new Entry.Profile(
              block,
              "shm",
              CASE,
              Map.of("compute_ms", 100 - transfer, "transfer_ms", transfer, "other_ms", 20.0)));
    }
  }

  private String report() throws IOException {
    ReportFolder reports = ReportFolder.open(folder);
    reports.write(new Findings(SUITE, log), List.of(), "compare: 1");
    return Files.readString(reports.html());
  }

  private List<Path> files(String end) throws IOException {
    try (Stream<Path> all = Files.list(folder.resolve("figures"))) {
      return all.filter(file -> file.getFileName().toString().endsWith(end)).sorted().toList();
    }
  }

  private static Document parsed(String xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
  }

  @Test
  void everyFigureIsADrawingOfItsOwnWithCaptionAxesAndData() throws Exception {
    profile(35);
    String html = report();
    List<Path> drawings = files(".svg");
    int inReport = html.split("<figure ", -1).length - 1;
    assertThat(drawings).hasSize(inReport).hasSize(7);
    for (Path drawing : drawings) {
      String svg = Files.readString(drawing);
      assertThat(parsed(svg).getElementsByTagName("title").getLength()).isEqualTo(1);
      assertThat(svg)
          .contains("Figure ")
          .contains("class=\"tick middle\"")
          .doesNotContain("var(--")
          .doesNotContain("href")
          .doesNotContain("url(");
      assertThat(files(".csv")).contains(Path.of(drawing.toString().replaceFirst("svg$", "csv")));
    }
    assertThat(folder.resolve("figures/figure-02-bandwidth-host-to-device-pinned-memory.csv"))
        .content()
        .startsWith("setting,x,y,low,high\r\nnative,1024.00000,98.0");
    assertThat(folder.resolve("figures/figure-02-bandwidth-host-to-device-pinned-memory.svg"))
        .content()
        .contains("size of a copy, bytes")
        .contains("MB/s")
        .contains("shm");
  }

  @Test
  void namesOfProgramsStayText() throws Exception {
    String html = report();
    parsed(html.replace("<!DOCTYPE html>", ""));
    assertThat(html).doesNotContain("<script");
    try (Stream<Path> all = Files.walk(folder)) {
      assertThat(all.filter(Files::isRegularFile).map(file -> file.getFileName().toString()))
          .allMatch(name -> name.matches("[A-Za-z0-9._-]+"));
    }
    assertThat(Files.readString(files("kernels-cost.svg").get(0))).doesNotContain("<script");
    assertThat(Files.readString(files("kernels-cost.csv").get(0)))
        .contains("\"../../x\"\"</text><script>a,b</script>\n$(touch owned)\",shm,1.8");
  }

  @Test
  void describesTheAxesForTheScript() throws Exception {
    report();
    JsonNode figures =
        new ObjectMapper().readTree(folder.resolve("figures/figures.json").toFile()).get("figures");
    assertThat(figures).hasSize(6);
    assertThat(figures.get(0).get("x").asText()).isEqualTo("time relative to native, logarithmic");
    assertThat(figures.get(0).get("names").get(0).get("name").asText()).isEqualTo("shm");
    assertThat(folder.resolve("figures/plot.py")).content().contains("matplotlib");
  }

  @Test
  void theScriptDrawsEveryFigure() throws Exception {
    assumeTrue(runs(PYTHON, "-c", "import matplotlib"), "python3-matplotlib is not installed");
    profile(70);
    report();
    String said =
        HostProgram.of(
                PYTHON, List.of(folder.resolve("figures/plot.py").toString(), "--format=svg"))
            .output(LIMIT);
    assertThat(said).doesNotContain("Traceback");
    try (Stream<Path> drawn = Files.list(folder.resolve("figures/drawn"))) {
      assertThat(drawn).hasSize(7);
    }
  }

  @Test
  void everyFigureIsThereAsPdfToo() throws Exception {
    assumeTrue(runs(FigureFiles.CONVERTER, "--version"), "librsvg2-bin is not installed");
    report();
    assertThat(files(".pdf")).hasSize(6);
    for (Path pdf : files(".pdf")) {
      assertThat(Files.readString(pdf, StandardCharsets.ISO_8859_1)).startsWith("%PDF-");
    }
  }

  private static boolean runs(String program, String... arguments) {
    try {
      HostProgram.of(program, List.of(arguments)).output(LIMIT);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void saysWhatMakesPdfsWhereNothingDoes() throws Exception {
    HtmlReport pages = new HtmlReport(new Findings(SUITE, log), List.of(), "");
    Optional<String> why =
        new FigureFiles(folder, "no-such-converter").write(pages.figures(), pages.palette());
    assertThat(why.orElseThrow()).contains("no-such-converter").contains("install librsvg2-bin");
    assertThat(folder.resolve("figure-01-overview.svg")).exists();
  }

  @Test
  void aNewReportLeavesNoFigureOfTheOneBefore() throws Exception {
    Files.createDirectories(folder.resolve("figures"));
    Files.writeString(folder.resolve("figures/figure-44-before.svg"), "old");
    Files.writeString(folder.resolve("figures/notes.txt"), "the reader's own");
    report();
    assertThat(folder.resolve("figures/figure-44-before.svg")).doesNotExist();
    assertThat(folder.resolve("figures/notes.txt")).exists();
  }

  @Test
  void aBreakdownHasTheMeanOfItsRunsWithTheirInterval() throws Exception {
    profile(35);
    assertThat(report())
        .contains("Means of 3 runs, measured by the client")
        .contains("agrees in 1 of 1 cases");
    assertThat(Files.readString(folder.resolve("appendix.html")))
        .contains("<td>35.2% (35.1 to 35.3)</td><td>35.0% (35.0 to 35.0)</td><td>agrees</td>");
    assertThat(Files.readString(files("profiles.csv").get(0)))
        .contains(CASE + ",shm,transfer,35.2000000,35.1")
        .doesNotContain("disagrees");
  }

  @Test
  void aBreakdownThatTheProgramsOwnClockContradictsIsFlagged() throws Exception {
    profile(60);
    assertThat(report()).contains("<strong class=\"flag\">disagrees</strong>");
    assertThat(Files.readString(files("profiles.svg").get(0))).contains(">disagrees</text>");
    assertThat(Files.readString(files("profiles.csv").get(0))).contains(",disagrees");
  }

  /** Many cases and settings: the figures that would fill pages are in the appendix. */
  @Test
  void figuresWithoutRoomGoToTheAppendix() throws Exception {
    for (int block = 1; block <= 3; block++) {
      for (int i = 0; i < 60; i++) {
        run(block, "native", "kernels", Measurement.of("kernel" + i, 0, "ms", 2.0 + i));
        run(block, "shm", "kernels", Measurement.of("kernel" + i, 0, "ms", 3.0 + i));
      }
    }
    assertThat(report()).contains("Figure A1 in the <a href=\"appendix.html\">appendix</a>: Kern");
    assertThat(Files.readString(folder.resolve("appendix.html"))).contains("Figure A1. Kernels.");
    assertThat(folder.resolve("figures/figure-a01-kernels-cost.svg")).exists();
  }
}
