package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.deployment.ListedDeployment;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft list}: shows the deployments of this host. */
@Prints(DeploymentForms.Listed.class)
@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    header = "Shows the deployments of this host, and their guests' states now.",
    description = {
      "",
      "Asks the hypervisor for each guest, and compares the host with the descriptor of each"
          + " deployment. DRIFT is none, differs (graft status shows what), or unknown, with the"
          + " reason. A deployment whose state folder cannot be read is listed as damaged. Ends"
          + " with 0, or with 1 if a state folder is damaged.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft list", "  graft list --output json"})
public final class ListCommand implements Callable<Integer> {
  @Mixin Output output;

  @Override
  public Integer call() {
    return DeploymentTable.print(output, ListedDeployment.all());
  }
}
