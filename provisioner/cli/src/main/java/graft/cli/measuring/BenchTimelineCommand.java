package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.comparison.trace.TimelineSummary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft bench timeline}: summarizes a timeline that the client wrote. */
@Command(
    name = "timeline",
    mixinStandardHelpOptions = true,
    header = "Summarizes a timeline of graft trace or GRAFT_TRACE.",
    description = {
      "",
      "Prints how long the GPU was busy, which kernels, copies, memsets and graphs took the time, and"
          + " which calls waited for the server.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft cp lab.yaml alice:/root/trace.812.json .",
      "  graft bench timeline trace.812.json",
      "  graft bench timeline --output json vectorAdd.trace.json"
    })
final class BenchTimelineCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "FILE", description = "The timeline.")
  Path file;

  @Option(
      names = "--top",
      paramLabel = "N",
      description = "How many kinds of work and of waits to show (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  int top;

  @Override
  public Integer call() throws IOException {
    TimelineSummary summary = TimelineSummary.of(file);
    if (summary.isEmpty()) {
      throw new GraftException(
          file + " has no event of a timeline", "GRAFT_TRACE=FILE before a program writes one");
    }
    if (output.isJson()) {
      output.result(summary.tree());
    } else {
      output.out().print(summary.text(top));
      output.out().flush();
    }
    return ExitCode.OK;
  }
}
