package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.comparison.results.Results;
import graft.comparison.results.ResultsTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft bench summarize}: prints a table of the measurements of programs and scripts. */
@Command(
    name = "summarize",
    mixinStandardHelpOptions = true,
    header = "Makes a table of files with results.",
    description = {
      "",
      "Prints the median of each figure in each setting, with the range of its samples, and ratios"
          + " of medians to a baseline. A results file has a JSON object on each line:",
      "",
      "  {\"setting\":\"tcp\",\"name\":\"copy\",\"size\":4096,\"unit\":\"us\",\"state\":\"warm\",\"samples\":[1.5,1.6]}",
      "",
      "or an object with such ones as its \"measurements\", as the JSON of bench remoting and compare"
          + " has. Lines with the same setting, name, size, unit and state add samples to each other."
          + " The state is empty (the caches of compiled kernels empty), filled (a new process, the"
          + " caches filled) or warm, which it is if the line has none. A sample that is null failed.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft bench summarize --baseline native results/*.jsonl",
      "  graft bench summarize --around ib_write_bw,ucx_perftest fabric.jsonl"
    })
final class BenchSummarizeCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(arity = "1..*", paramLabel = "FILE", description = "The files with results.")
  List<Path> files;

  @Option(
      names = "--baseline",
      paramLabel = "SETTING",
      defaultValue = "",
      description = "Show ratios to this setting.")
  String baseline;

  @Option(
      names = "--around",
      paramLabel = "SETTING",
      split = ",",
      description =
          "Show ratios to settings that were measured before, between and after the samples of the"
              + " others: each sample is compared with the mean of the two beside it; several"
              + " between commas.")
  List<String> around = new ArrayList<>();

  @Option(
      names = "--save",
      paramLabel = "FOLDER",
      description = "Write results.md, results.json and results.svg there.")
  Path folder;

  @Override
  public Integer call() throws IOException {
    Results results = new Results();
    files.forEach(results::add);
    if (results.measurements().isEmpty()) {
      throw new GraftException("the files have no measurement", "");
    }
    check(results, around);
    check(results, baseline.isEmpty() ? List.of() : List.of(baseline));
    ResultsTable table = new ResultsTable(results);
    for (String setting : results.settings()) {
      table.spread(setting);
      if (!around.contains(setting)) {
        if (!baseline.isEmpty() && !setting.equals(baseline)) {
          table.ratio(setting + " / " + baseline, setting, baseline);
        }
        around.forEach(tool -> table.ratioAround(setting + " / " + tool, setting, tool));
      }
    }
    new SavedResults(output, results, table.toString(), results.tree(Map.of()))
        .show(folder, "results", baseline);
    return ExitCode.OK;
  }

  private static void check(Results results, List<String> settings) {
    for (String setting : settings) {
      if (!results.settings().contains(setting)) {
        throw new GraftException(
            "the files have no setting '" + setting + "'",
            "they have: " + String.join(", ", results.settings()));
      }
    }
  }
}
