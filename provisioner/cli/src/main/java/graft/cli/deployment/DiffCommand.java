package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.deployment.PlanDiff;
import graft.deployment.Workspace;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.JournalState;
import graft.remoting.server.operate.OperatorClient;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft diff}: shows the settings that apply would change, old and new. */
@Prints(DeploymentForms.Differences.class)
@Command(
    name = "diff",
    mixinStandardHelpOptions = true,
    header = "Shows the settings that apply would change, old and new.",
    description = {
      "",
      "Shows the plan by guests, servers, networks and devices: what the change means for each,"
          + " each setting with the value that was applied and the one that would be, and the lines"
          + " of a definition that differ. Changes nothing. Ends with 0 if nothing differs, 7 if"
          + " something does.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft diff lab.yaml", "  graft diff --output json lab.yaml"})
public final class DiffCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "DESCRIPTOR", description = "The descriptor; - is standard input.")
  Path descriptor;

  @Override
  public Integer call() throws Exception {
    try (Workspace workspace =
        new Workspace(DescriptorReader.readOrStandardInput(descriptor), OperatorClient::sessions)) {
      JournalState journal = workspace.journal();
      PlanDiff diff = new PlanDiff(workspace.plan(journal, workspace.observe(journal)), journal);
      output.say(diff.toText().stripTrailing());
      output.result(diff.toTree());
      return diff.isEmpty() ? ExitCode.OK : ExitCode.DIFFERS;
    }
  }
}
