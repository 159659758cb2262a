package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.PowerRun;
import graft.deployment.PowerRun.Outcome;
import graft.deployment.state.StateFolder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What {@code start}, {@code stop} and {@code restart} have in common. */
@Prints(DeploymentForms.Powered.class)
abstract class PowerCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "GUEST|GPU",
      description = "Guests, and GPUs of this host for their servers (default: all).")
  List<String> names = List.of();

  /** What is done with the deployment. */
  interface Work {
    Map<String, Outcome> on(PowerRun run, List<String> names) throws Exception;
  }

  /** Does it, and tells what became of each name. */
  final int run(String command, Work work) throws Exception {
    StateFolder state = target.state();
    String deployment = state.deployment().text();
    Map<String, Outcome> outcomes =
        work.on(new PowerRun(state, new TextProgress(output.err())), names);
    OperatorAudit.write(
        output.err(),
        command,
        Map.of("deployment", deployment, "names", List.copyOf(outcomes.keySet())));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", deployment);
    Map<String, Object> words = new LinkedHashMap<>();
    outcomes.forEach(
        (name, outcome) -> {
          output.say(name + ": " + outcome.words());
          words.put(name, outcome.words());
        });
    tree.put("outcomes", words);
    output.result(tree);
    return ExitCode.OK;
  }
}
