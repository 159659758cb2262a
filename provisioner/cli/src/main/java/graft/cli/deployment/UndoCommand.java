package graft.cli.deployment;

import graft.cli.hosts.HostsOption;
import graft.cli.printed.DeploymentForms;
import graft.cli.printed.HostsForms;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.UndoRun;
import graft.deployment.state.StateFolder;
import graft.remoting.server.operate.OperatorClient;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft undo}: undoes the last apply. */
@Prints({DeploymentForms.Undone.class, HostsForms.Undone.class})
@Command(
    name = "undo",
    mixinStandardHelpOptions = true,
    header = "Undoes the last apply, and restores what was there before.",
    description = {
      "",
      "Undoes every step of the last apply, last first, whether it succeeded, failed or was"
          + " killed. Steps of earlier applies stay, and those that the last apply had removed or"
          + " replaced are done again with their earlier settings. Data of disks that it deleted"
          + " cannot be restored, and access that was revoked since is not. The descriptor is not"
          + " changed: graft apply would do the undone steps again.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft undo lab.yaml", "  graft undo lab       by name, without the file"})
public final class UndoCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;
  @Mixin ChangeOption change;

  @Mixin HostsOption hosts;

  @Override
  public Integer call() throws Exception {
    Optional<Integer> code =
        hosts.run(
            target.given,
            output,
            report -> report.back("undo", change.consent(output), change.deletesData()));
    return code.isPresent() ? code.get() : onThisHost();
  }

  private int onThisHost() throws Exception {
    StateFolder state = target.state();
    UndoRun undo =
        new UndoRun(state, "undo", new TextProgress(output.err())).asking(OperatorClient::sessions);
    return UndoReport.report(output, "undo", state, undo.last(change.consent(output)));
  }
}
