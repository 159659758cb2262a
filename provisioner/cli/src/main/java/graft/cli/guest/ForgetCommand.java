package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.TextProgress;
import graft.deployment.ForgetMachine;
import graft.deployment.state.StateFolder;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft forget}: forgets a machine that is gone for good. */
@Command(
    name = "forget",
    mixinStandardHelpOptions = true,
    header = "Forgets a machine that existed before, and is gone for good.",
    description = {
      "",
      "graft apply, undo and destroy take the client back from a machine that exists already, and"
          + " fail if the machine does not answer. This command ends the machine's access, deletes"
          + " its token here, and takes the machine out of the deployment's records without asking"
          + " it. If the machine comes back after all, /usr/lib/graft and /etc/graft are still"
          + " there, and the token in them is worthless.",
      "",
      "Remove the guest from the descriptor too; otherwise graft apply installs the client again.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft forget lab esx-1"})
public final class ForgetCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest.")
  String guest;

  @Override
  public Integer call() throws Exception {
    StateFolder state = target.state();
    String machine = new ForgetMachine(state, new TextProgress(output.err())).forget(guest);
    OperatorAudit.write(
        output.err(),
        "token-revoked",
        Map.of("deployment", state.deployment().text(), "guest", guest));
    output.say("guest " + guest + ": access revoked; the machine " + machine + " is forgotten");
    output.result(
        Map.of("setup", state.deployment().text(), "forgotten", guest, "machine", machine));
    return ExitCode.OK;
  }
}
