package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Version;
import graft.common.GraftException;
import graft.comparison.report.Findings;
import graft.comparison.report.HypervisorTable;
import graft.comparison.run.Result;
import graft.comparison.run.Site;
import graft.comparison.run.Stop;
import graft.comparison.site.CompareSite;
import graft.comparison.site.Comparison;
import graft.comparison.site.SuiteFile;
import graft.comparison.site.SuiteReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft compare}: measures and explains the cost of each scenario for programs. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    header = "Measures what each way of reaching a GPU costs programs.",
    description = {
      "",
      "Makes each of the suite's scenarios ready in turn, runs its workloads there, takes the"
          + " scenario down, and writes report.html, its appendix, every figure with its data,"
          + " results.csv and results.json. Every run is noted in results.jsonl as soon as it is over: the same command goes on where an"
          + " interrupted one stopped. What this site cannot do, and what fails, is in the report"
          + " with the reason.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft compare examples/compare-demo.yaml --output-dir comparison",
      "  graft compare suite.yaml --output-dir comparison --report-only"
    })
public final class CompareCommand implements Callable<Integer> {
  private static final long TAKE_DOWN_SECONDS = 600;

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
    Stop stop = new Stop();
    CountDownLatch finished = new CountDownLatch(1);
    Thread hook = new Thread(() -> stopAndAwait(stop, finished));
    Runtime.getRuntime().addShutdownHook(hook);
    try (Comparison comparison = Comparison.open(file, folder)) {
      boolean whole = reportOnly || measure(comparison, file, stop);
      return report(comparison, whole);
    } catch (IOException e) {
      throw new GraftException(
          "cannot keep the results in " + folder + ": " + e.getMessage(), "", e);
    } finally {
      finished.countDown();
      removeHook(hook);
    }
  }

  private boolean measure(Comparison comparison, SuiteFile file, Stop stop) throws IOException {
    Site site = new CompareSite(file, Version.text(), new FirstTimeProgress(output.err()), stop);
    boolean whole =
        comparison.run(
            site,
            new CompareProgress(output),
            stop,
            began -> output.say("goes on where the run that began at " + began + " stopped"),
            why -> output.err().println("graft compare: " + why));
    output.err().flush();
    return whole;
  }

  /**
   * On Ctrl-C, takes down the setting that is ready and writes the report before the process ends.
   */
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
      // the hook is already running
    }
  }

  private Integer report(Comparison comparison, boolean whole) throws IOException {
    Findings findings =
        comparison
            .report(output::say)
            .orElseThrow(
                () ->
                    new GraftException(
                        "there are no results in " + folder, "run it without --report-only"));
    long failed = findings.runs().stream().filter(r -> r.result() != Result.OK).count();
    output.say("");
    output.say(findings.runs().size() + " runs, " + failed + " of them without figures");
    findings
        .impossible()
        .forEach((name, why) -> output.say("not possible here: " + name + ": " + why));
    HypervisorTable hypervisors = HypervisorTable.of(findings);
    hypervisors.lines().forEach(output::say);
    output.say("report: " + comparison.html());
    output.say("its figures, with their data and plot.py: " + comparison.figures());
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("report", comparison.html().toString());
    tree.put("figures", comparison.figures().toString());
    tree.put("runs", findings.runs().size());
    tree.put("withoutFigures", failed);
    tree.put("impossible", findings.impossible());
    tree.put("hypervisors", hypervisors.tree());
    tree.put("complete", whole);
    output.result(tree);
    return whole ? ExitCode.OK : ExitCode.FAILED;
  }
}
