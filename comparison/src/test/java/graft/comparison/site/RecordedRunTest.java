package graft.comparison.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import graft.comparison.report.FigureKey;
import graft.comparison.report.Findings;
import graft.comparison.report.ReportFolder;
import graft.comparison.results.State;
import graft.comparison.run.ResultsLog;
import graft.comparison.statistics.Overhead;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports from the recorded logs of runs on real hardware and in the lab. */
class RecordedRunTest {
  private static final Path RECORDED = Path.of("src/test/resources/recorded");

  @TempDir Path folder;

  private static Findings findings(String run) throws Exception {
    SuiteFile file = SuiteReader.read(RECORDED.resolve(run + ".yaml"));
    return new Findings(file.suite(), ResultsLog.read(RECORDED.resolve(run + ".jsonl")));
  }

  private String html(String run) throws Exception {
    SuiteFile file = SuiteReader.read(RECORDED.resolve(run + ".yaml"));
    ReportFolder reports = ReportFolder.open(folder);
    reports.write(findings(run), file.published(), file.text());
    return Files.readString(reports.html());
  }

  /** The expected ratios were computed from the log independently of this code. */
  @Test
  void findsWhatTheChannelsOfAnH200Cost() throws Exception {
    Findings findings = findings("h200");
    FigureKey wait = new FigureKey("launch", "launch", "launch-and-wait", 0, "us", State.WARM);
    FigureKey mixed =
        new FigureKey("synthetic", "synthetic/90%/both/256K-1M", "time", 0, "ms", State.WARM);
    assertThat(findings.figures()).contains(wait, mixed);
    assertThat(ratio(findings, wait, "shm")).isCloseTo(2.08986, within(1e-5));
    assertThat(ratio(findings, wait, "tcp")).isCloseTo(3.10272, within(1e-5));
    assertThat(ratio(findings, mixed, "shm")).isCloseTo(0.85870, within(1e-5));
    assertThat(ratio(findings, mixed, "unix")).isCloseTo(1.97304, within(1e-5));
  }

  private static double ratio(Findings findings, FigureKey key, String setting) {
    Overhead overhead = findings.overhead(key, setting).orElseThrow();
    assertThat(overhead.interval()).isPresent();
    return overhead.ratio();
  }

  @Test
  void reportsAnH200sRun() throws Exception {
    assertThat(html("h200"))
        .contains("NVIDIA H200")
        .contains("2 devices are wanted, and there is 1")
        .doesNotContain("software-device figures");
    assertThat(Files.readAllLines(folder.resolve("results.csv"))).hasSizeGreaterThan(300);
  }

  /** The lab's stand-in for a GPU is passed through to a guest of its host. */
  @Test
  void reportsAGuestWithAStandIn() throws Exception {
    assertThat(html("lab"))
        .contains("software-device figures")
        .contains("there is no CUDA driver: libcuda.so.1")
        .contains("the software device has no driver of its own");
    assertThat(Files.readString(folder.resolve("results.csv")))
        .contains("vm-passthrough,stand-in,stand-in,run-time")
        .contains("vm-local,launch,launch,launch-and-wait");
  }
}
