package graft.cli.deployment;

import graft.cli.hosts.HostsOption;
import graft.cli.printed.DeploymentForms;
import graft.cli.printed.HostsForms;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.UndoRun;
import graft.deployment.journal.JournalState;
import graft.deployment.state.StateFolder;
import graft.remoting.server.operate.OperatorClient;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft destroy}: removes a whole deployment. */
@Prints({DeploymentForms.Undone.class, HostsForms.Undone.class})
@Command(
    name = "destroy",
    mixinStandardHelpOptions = true,
    header = "Removes a whole deployment.",
    description = {
      "",
      "Undoes every step of every apply, last first: guests are stopped and removed with their"
          + " disks, servers stopped, networks removed, tokens deleted. What existed before stays."
          + " Guests' disks are deleted only with --delete-data, or by the answer to a question at"
          + " a terminal.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft destroy lab.yaml",
      "  graft destroy lab       by name, without the file",
      "  graft destroy --delete-data lab.yaml    in scripts, with the guests' disks"
    })
public final class DestroyCommand implements Callable<Integer> {
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
            report -> report.back("destroy", change.consent(output), change.deletesData()));
    return code.isPresent() ? code.get() : onThisHost();
  }

  private int onThisHost() throws Exception {
    StateFolder state = target.state();
    UndoRun undo =
        new UndoRun(state, "destroy", new TextProgress(output.err()))
            .asking(OperatorClient::sessions);
    return UndoReport.report(
        output, "destroy", state, undo.run(JournalState::newestFirst, change.consent(output)));
  }
}
