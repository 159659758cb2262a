package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.deployment.GuestTokens;
import graft.deployment.state.StateFolder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft revoke}: revokes guests' access to their GPUs. */
@Prints(GuestForms.Revoked.class)
@Command(
    name = "revoke",
    mixinStandardHelpOptions = true,
    header = "Revokes guests' access to their GPUs, at once.",
    description = {
      "",
      "The guest's servers end its sessions, also those of running programs, and accept no new"
          + " ones. graft plan then shows that the access is missing, and graft apply grants it"
          + " again, after graft rotate with a new token.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft revoke lab alice"})
public final class RevokeCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1..*", arity = "1..*", paramLabel = "GUEST", description = "The guests.")
  List<String> guests;

  @Override
  public Integer call() throws Exception {
    StateFolder state = target.state();
    List<String> revoked =
        GuestTokens.change(
            state,
            "revoke",
            Optional.of(guests),
            (guest, tokens) -> {
              tokens.revoke(guest);
              OperatorAudit.write(
                  output.err(),
                  "token-revoked",
                  Map.of("deployment", state.deployment().text(), "guest", guest));
              output.say("guest " + guest + ": access revoked");
            });
    output.result(Map.of("deployment", state.deployment().text(), "revoked", revoked));
    return ExitCode.OK;
  }
}
