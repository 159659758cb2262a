package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.deployment.TakeBack;
import graft.deployment.state.StateFolder;
import java.util.LinkedHashMap;
import java.util.Map;

/** Says what was taken back. */
final class TakenBack {
  private TakenBack() {}

  /**
   * Prints the result.
   *
   * @return the exit code
   */
  static int report(Output output, StateFolder state, TakeBack.Result result) {
    result.errors().forEach(output.err()::println);
    output.err().flush();
    String done =
        result.steps() == 0 ? "nothing to take back" : result.steps() + " steps taken back";
    output.say(
        state.setup()
            + ": "
            + (result.isWhole() ? done : result.errors().size() + " steps are left"));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("setup", state.setup().text());
    tree.put("steps", result.steps());
    tree.put("errors", result.errors());
    output.result(tree);
    return result.isWhole() ? ExitCode.OK : ExitCode.PARTIAL;
  }
}
