package graft.cli.measuring;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code graft bench}: measurements. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    header = "Measures what Graft costs.",
    footerHeading = "%nExamples:%n",
    footer = {"  graft bench remoting --device gpu --native", "  graft bench sharing --device gpu"},
    subcommands = {
      BenchRemotingCommand.class,
      BenchSharingCommand.class,
      BenchSummarizeCommand.class,
      BenchTimelineCommand.class
    })
public final class BenchCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which measurement? graft bench --help lists them");
  }
}
