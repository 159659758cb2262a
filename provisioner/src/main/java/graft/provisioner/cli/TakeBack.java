package graft.provisioner.cli;

import graft.provisioner.apply.LiveContext;
import graft.provisioner.apply.Steps;
import graft.provisioner.apply.Undoer;
import graft.provisioner.journal.Journal;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.state.PrivateFiles;
import graft.provisioner.state.SetupLock;
import graft.provisioner.state.StateFolder;
import graft.provisioner.step.Step;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Takes back steps of a set-up, and its folder when nothing is left. */
final class TakeBack {
  private final StateFolder state;
  private final Output output;
  private final String command;

  TakeBack(StateFolder state, Output output, String command) {
    this.state = state;
    this.output = output;
    this.command = command;
  }

  /**
   * Takes back the chosen steps.
   *
   * @return the exit code
   */
  int run(Function<JournalState, List<Step>> choice) throws Exception {
    if (!state.exists()) {
      report(0, List.of());
      return ExitCode.OK;
    }
    return SetupLock.holding(state, () -> locked(choice));
  }

  private int locked(Function<JournalState, List<Step>> choice) throws Exception {
    try (Connections connections = new Connections();
        Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      journal.note(command);
      List<Step> steps = choice.apply(journal.state());
      TextProgress progress = new TextProgress(output.err());
      LiveContext context = new LiveContext(connections, journal, progress);
      List<String> errors =
          Interruption.told(
              output.err(),
              "interrupted: graft " + command + " " + state.setup() + " goes on",
              () -> new Undoer(journal, context, progress).undo(steps));
      if (journal.state().isEmpty()) {
        PrivateFiles.deleteFolder(state.path());
      }
      report(steps.size(), errors);
      return errors.isEmpty() ? ExitCode.OK : ExitCode.PARTIAL;
    }
  }

  private void report(int steps, List<String> errors) {
    errors.forEach(output.err()::println);
    output.err().flush();
    String done = steps == 0 ? "nothing to take back" : steps + " steps taken back";
    output.say(
        state.setup() + ": " + (errors.isEmpty() ? done : errors.size() + " steps are left"));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("setup", state.setup().text());
    tree.put("steps", steps);
    tree.put("errors", errors);
    output.result(tree);
  }
}
