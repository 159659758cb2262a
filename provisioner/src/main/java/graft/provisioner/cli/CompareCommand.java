package graft.provisioner.cli;

import graft.comparison.report.Findings;
import graft.comparison.report.ReportFolder;
import graft.comparison.run.Entry;
import graft.comparison.run.Result;
import graft.comparison.run.ResultsLog;
import graft.comparison.run.Runner;
import graft.comparison.run.Site;
import graft.comparison.run.Stop;
import graft.provisioner.GraftException;
import graft.provisioner.compare.SuiteFile;
import graft.provisioner.compare.SuiteReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft compare}: what each way of reaching a GPU costs programs, and why. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    header = "Measures what each way of reaching a GPU costs programs.",
    description = {
      "",
      "Makes each of the suite's scenarios ready in turn, runs its workloads there, takes the"
          + " scenario down, and writes report.html, results.csv and results.json. Every run is"
          + " noted in results.jsonl as soon as it is over: the same command goes on where an"
          + " interrupted one stopped. What this site cannot do, and what fails, is in the report"
          + " with the reason.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft compare examples/compare-demo.yaml --output-dir comparison",
      "  graft compare suite.yaml --output-dir comparison --report-only"
    })
final class CompareCommand implements Callable<Integer> {
  private static final long TAKE_DOWN_SECONDS = 600;

  /** A folder holds the results of another text of the suite: nothing in it may be touched. */
  private static final class OtherSuiteException extends GraftException {
    private static final long serialVersionUID = 1;

    OtherSuiteException(Path folder) {
      super(
          folder + " holds the results of another text of the suite",
          "name another --output-dir, or put the suite back as it was");
    }
  }

  @Mixin Output output;

  @Parameters(paramLabel = "SUITE", description = "The suite's file.")
  Path suite;

  @Option(
      names = "--output-dir",
      required = true,
      paramLabel = "DIR",
      description = "The folder for the results and the report.")
  Path folder;

  @Option(
      names = "--report-only",
      description = "Run nothing: write the report of what was measured before.")
  boolean reportOnly;

  @Override
  public Integer call() throws Exception {
    SuiteFile file = SuiteReader.read(suite);
    ReportFolder reports;
    try {
      reports = ReportFolder.open(folder);
    } catch (IOException e) {
      throw new GraftException("cannot make " + folder + ": " + e.getMessage(), "", e);
    }
    Stop stop = new Stop();
    CountDownLatch finished = new CountDownLatch(1);
    Thread hook = new Thread(() -> stopAndAwait(stop, finished));
    Runtime.getRuntime().addShutdownHook(hook);
    try (ResultsLog log = ResultsLog.open(reports.log())) {
      boolean whole = reportOnly || measure(file, reports, log, stop);
      return report(file, reports, log, whole);
    } catch (IOException e) {
      throw new GraftException(
          "cannot keep the results in " + folder + ": " + e.getMessage(), "", e);
    } finally {
      finished.countDown();
      removeHook(hook);
    }
  }

  /** Runs what is left; whatever ends it early, what was measured can be reported. */
  private boolean measure(SuiteFile file, ReportFolder reports, ResultsLog log, Stop stop)
      throws Exception {
    Site site = new CompareSite(file, Output.silent(output), stop);
    try {
      Entry.Begin begin = begin(file, site, log);
      boolean whole =
          new Runner(file.suite(), site, log, new CompareProgress(output), stop).run(begin.seed());
      if (!whole) {
        log.add(new Entry.Stopped("it was interrupted"));
      }
      return whole;
    } catch (OtherSuiteException e) {
      throw e;
    } catch (IOException e) {
      String why = "the results cannot be written: " + e.getMessage();
      output.err().println("graft compare: " + why);
      reports.giveRoom();
      if (!log.entries().isEmpty()) {
        log.add(new Entry.Stopped(why));
      }
    } catch (Exception e) {
      output.err().println("graft compare: " + e.getMessage());
      if (!log.entries().isEmpty()) {
        log.add(new Entry.Stopped(String.valueOf(e.getMessage())));
      }
    }
    output.err().flush();
    return false;
  }

  /** On Ctrl-C: what is ready is taken down, and the report written, before the process ends. */
  private void stopAndAwait(Stop stop, CountDownLatch finished) {
    stop.ask();
    output.err().println("interrupted: takes down what is ready; the same command goes on later");
    output.err().flush();
    try {
      finished.await(TAKE_DOWN_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the hook runs already
    }
  }

  private Entry.Begin begin(SuiteFile file, Site site, ResultsLog log) throws Exception {
    byte[] text = file.text().getBytes(StandardCharsets.UTF_8);
    String digest =
        HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text), 0, 8);
    if (log.entries().isEmpty()) {
      int seed = file.suite().seed().orElseGet(() -> new SecureRandom().nextInt(1_000_000));
      String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
      log.add(new Entry.Begin(digest, file.suite().name(), seed, now, site.describe()));
    }
    Entry.Begin begin = (Entry.Begin) log.entries().get(0);
    if (!begin.digest().equals(digest)) {
      throw new OtherSuiteException(folder);
    }
    if (log.entries().size() > 1) {
      output.say("goes on where the run that began at " + begin.at() + " stopped");
    }
    return begin;
  }

  private Integer report(SuiteFile file, ReportFolder reports, ResultsLog log, boolean whole)
      throws IOException {
    if (log.entries().isEmpty()) {
      throw new GraftException("there are no results in " + folder, "run it without --report-only");
    }
    Findings findings = new Findings(file.suite(), log.entries());
    reports.write(findings, file.published(), file.text());
    long failed = findings.runs().stream().filter(r -> r.result() != Result.OK).count();
    output.say("");
    output.say(findings.runs().size() + " runs, " + failed + " of them without figures");
    findings
        .impossible()
        .forEach((name, why) -> output.say("not possible here: " + name + ": " + why));
    output.say("report: " + reports.html());
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("report", reports.html().toString());
    tree.put("runs", findings.runs().size());
    tree.put("withoutFigures", failed);
    tree.put("impossible", findings.impossible());
    tree.put("complete", whole);
    output.result(tree);
    return whole ? ExitCode.OK : ExitCode.FAILED;
  }
}
