package graft.comparison.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table, the JSON and the drawings of measurements that are made up. */
final class SharingReportTest {
  private static final Scope SCOPE =
      new Scope(EnumSet.allOf(Part.class), List.of(50L, 5000L), List.of(500L), List.of(1, 2), 4);

  @TempDir Path folder;
  private final Results results = new Results();

  private void add(String setting, String name, long size, Double... seconds) {
    results.add(Measurement.of(name, size, "s", seconds).in(setting));
  }

  private void requests(String setting, long kernel, double most) {
    Double[] samples =
        IntStream.rangeClosed(1, 100).mapToObj(i -> most * i / 100).toArray(Double[]::new);
    results.add(Measurement.of(Names.REQUEST, kernel, "us", samples).in(setting));
  }

  /** The cells of the figure of a case, as the table has them. */
  private List<String> row(String what, String figure) {
    return new SharingReport(SCOPE, results, "shm")
        .table()
        .lines()
        .filter(line -> line.contains("| " + what + " | " + figure + " |"))
        .map(line -> List.of(line.substring(2).split(" \\| ?", -1)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aShareWithinOnePointMeetsTheGoalAndAnotherMissesIt() {
    add("shm", Names.shares(List.of(75, 25)), 50, 3.02, 0.98);
    add("shm", Names.shares(List.of(75, 25)), 5000, 2.9, 1.1);
    assertThat(row("75, 25 asked, kernels of 50 us", "error of the shares"))
        .containsSequence("points", "0.50", "at most 1.00", "met");
    assertThat(row("75, 25 asked, kernels of 5000 us", "error of the shares"))
        .containsSequence("points", "2.50", "at most 1.00", "missed");
    assertThat(row("75, 25 asked, kernels of 5000 us", "error of a share, of itself"))
        .containsSequence("%", "10.00", "at most 5.00", "missed");
    assertThat(new SharingReport(SCOPE, results, "shm").table())
        .contains("goals met: 2 of 4")
        .contains("no native driver");
  }

  @Test
  void nativeProcessesStandBesideAndSetAGoal() {
    add("native", Names.sessions(500), 2, 2.0, 2.0);
    add("without shares", Names.sessions(500), 2, 1.96, 1.96);
    add("shm", Names.sessions(500), 2, 1.95, 1.95);
    String what = "2 equal, kernels of 500 us";
    assertThat(row(what, "GPU in use")).containsSequence("%", "97.50", "100.00");
    assertThat(row(what, "Jain's index")).containsSequence("1.0000", "1.0000");
    assertThat(row(what, "throughput / native")).contains("0.9750", "at least 0.9800", "missed");
    assertThat(row(what, "throughput / without shares")).contains("at least 0.9850", "met");
  }

  @Test
  void requestsMayWaitForOneLongKernelButNotForMoreThanAThirdBesideShortOnes() {
    requests("shm", 0, 1000);
    requests("shm", 50, 1400);
    requests("shm", 5000, 5900);
    assertThat(row("requests alone", "median")).contains("505");
    assertThat(row("beside kernels of 50 us", "99th percentile / alone"))
        .contains("1.4000", "at most 1.3000", "missed");
    assertThat(row("beside kernels of 5000 us", "99th percentile / alone"))
        .contains("5.9000", "met");
  }

  @Test
  void aFailedProgramIsNoFigureAndMissesTheGoal() {
    add("shm", Names.shares(List.of(50, 50)), 50, 2.0, null);
    assertThat(row("50, 50 asked, kernels of 50 us", "error of the shares"))
        .contains("failed", "missed");
  }

  @Test
  void manySessionsAndClassesAreReported() {
    Double[] many = Collections.nCopies(11, 0.2).toArray(Double[]::new);
    many[0] = 2.0;
    add("shm", Names.ONE_AND_MANY, Scope.MANY, many);
    add("shm", Names.CLASSES, 0, 3.2, 0.8, 0.0);
    assertThat(row("one session beside 10 of another guest, 50 asked each", "got by the one"))
        .contains("50.00");
    assertThat(row("guaranteed 40, burstable 10, best-effort", "best-effort got"))
        .contains("0.00", "met");
  }

  @Test
  void whatIsWrittenIsAResultsFileAndDrawingsThatHoldTheCurves() throws Exception {
    add("shm", Names.shares(List.of(75, 25)), 50, 3.0, 1.0);
    add("shm", Names.sessions(500), 1, 3.9);
    add("native", Names.sessions(500), 1, 4.0);
    requests("shm", 0, 1000);
    requests("native", 0, 900);
    List<String> files =
        new SharingReport(SCOPE, results, "shm").save(folder, Map.of("device", "software"));
    assertThat(files)
        .containsExactly(
            "sharing.md",
            "sharing.json",
            "results.jsonl",
            "shares.svg",
            "sessions.svg",
            "latency.svg");
    for (String file : List.of("sharing.json", "results.jsonl")) {
      assertThat(new Results().add(folder.resolve(file)).trees()).isEqualTo(results.trees());
    }
    assertThat(Json.readObject(Files.readString(folder.resolve("sharing.json"))))
        .containsKeys("machine", "figures", "goals", "goalsMet");
    assertThat(texts("shares.svg")).contains("kernels of 50 us", "asked", "25", "75");
    assertThat(texts("sessions.svg")).contains("shm", "native");
    assertThat(texts("latency.svg"))
        .contains("alone", "Time of requests by percentile, native", "50", "99", "100");
  }

  @Test
  void aPartThatWasNotMeasuredHasNoDrawing() throws Exception {
    add("shm", Names.CLASSES, 0, 3.2, 0.8, 0.0);
    assertThat(new SharingReport(SCOPE, results, "shm").save(folder, Map.of()))
        .containsExactly("sharing.md", "sharing.json", "results.jsonl");
  }

  /** All texts of a drawing, which is well-formed XML and refers to nothing outside. */
  private List<String> texts(String file) throws Exception {
    assertThat(Files.readString(folder.resolve(file))).doesNotContain("href", "url(", "@import");
    var nodes =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(folder.resolve(file).toFile())
            .getElementsByTagName("text");
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .collect(Collectors.toList());
  }
}
