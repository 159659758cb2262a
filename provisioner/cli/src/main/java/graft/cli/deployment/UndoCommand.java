package graft.cli.deployment;

import graft.cli.terminal.Output;
import graft.cli.terminal.TextProgress;
import graft.deployment.UndoRun;
import graft.deployment.journal.JournalState;
import graft.deployment.state.StateFolder;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft undo}: undoes the last apply. */
@Command(
    name = "undo",
    mixinStandardHelpOptions = true,
    header = "Undoes the last apply.",
    description = {
      "",
      "Undoes every step of the last apply, last first, whether it succeeded, failed or was"
          + " killed. Steps of earlier applies stay. What the last apply itself removed or replaced"
          + " is not restored: graft apply of the earlier descriptor makes it again.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft undo lab.yaml", "  graft undo lab       by name, without the file"})
public final class UndoCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;
  @Mixin DataOption data;

  @Override
  public Integer call() throws Exception {
    StateFolder state = target.state();
    UndoRun undo = new UndoRun(state, "undo", new TextProgress(output.err()));
    return UndoReport.report(
        output, "undo", state, undo.run(JournalState::lastRunNewestFirst, data.consent(output)));
  }
}
