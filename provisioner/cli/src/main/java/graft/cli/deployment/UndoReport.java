package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.deployment.UndoRun;
import graft.deployment.state.StateFolder;
import java.util.LinkedHashMap;
import java.util.Map;

/** Prints what was undone. */
final class UndoReport {
  private UndoReport() {}

  /**
   * Prints the result, and writes the audit event.
   *
   * @return the exit code
   */
  static int report(Output output, String event, StateFolder state, UndoRun.Result result) {
    OperatorAudit.write(
        output.err(),
        event,
        Map.of(
            "deployment",
            state.deployment().text(),
            "outcome",
            result.isWhole() ? "done" : "partial",
            "steps",
            result.steps()));
    result.errors().forEach(output.err()::println);
    output.err().flush();
    String restored =
        result.restored() == 0 ? "" : ", " + result.restored() + " of earlier applies done again";
    String done =
        result.steps() + result.restored() == 0
            ? "nothing to undo"
            : result.steps() + " steps undone" + restored;
    output.say(
        state.deployment()
            + ": "
            + (result.isWhole() ? done : result.errors().size() + " steps are left"));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", state.deployment().text());
    tree.put("steps", result.steps());
    tree.put("restored", result.restored());
    tree.put("errors", result.errors());
    tree.put("empty", !state.exists());
    output.result(tree);
    return result.isWhole() ? ExitCode.OK : ExitCode.PARTIAL;
  }
}
