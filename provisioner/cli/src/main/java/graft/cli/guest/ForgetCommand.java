package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.ForgetMachine;
import graft.deployment.state.StateFolder;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft forget}: forgets a machine that no longer exists. */
@Prints(GuestForms.Forgotten.class)
@Command(
    name = "forget",
    mixinStandardHelpOptions = true,
    header = "Forgets a machine that no longer exists, without asking it.",
    description = {
      "",
      "graft apply, undo and destroy take the client back from a machine that exists already, and"
          + " fail if the machine does not answer. This command ends the machine's access, deletes"
          + " its token here, and takes the machine out of the deployment's records without asking"
          + " it. The token of a machine that uses a node's GPU is the node's, and stays valid"
          + " until it is removed from the node's list. From a libvirt domain that still exists,"
          + " its devices are detached.",
      "",
      "If the machine comes back after all, Graft's files are still there, and other deployments"
          + " refuse it. To clean it, copy what is below /var/lib/graft/.existing/kept back to /,"
          + " delete the files that /var/lib/graft/.existing/absent names, run ldconfig, and then"
          + " delete /var/lib/graft/.existing.",
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
    ForgetMachine.Forgotten forgotten =
        new ForgetMachine(state, new TextProgress(output.err())).forget(guest);
    if (forgotten.revoked()) {
      OperatorAudit.write(
          output.err(),
          "token-revoked",
          Map.of("deployment", state.deployment().text(), "guest", guest));
    }
    String machine = forgotten.machine();
    output.say(
        "guest "
            + guest
            + ": "
            + (forgotten.revoked() ? "access revoked; " : "")
            + machine
            + " is forgotten"
            + (forgotten.hasTokenOfNode()
                ? "; its token of a node stays valid: remove it from the node's list"
                : ""));
    output.result(
        Map.of("deployment", state.deployment().text(), "forgotten", guest, "machine", machine));
    return ExitCode.OK;
  }
}
