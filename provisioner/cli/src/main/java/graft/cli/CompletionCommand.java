package graft.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code graft completion}: prints the shell's completion script. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    header = "Prints a completion script for bash and zsh.",
    footerHeading = "%nExamples:%n",
    footer = {"  source <(graft completion)", "  graft completion > /etc/bash_completion.d/graft"})
final class CompletionCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    spec.commandLine().getOut().print(AutoComplete.bash("graft", spec.root().commandLine()));
    spec.commandLine().getOut().println();
    spec.commandLine().getOut().flush();
  }
}
