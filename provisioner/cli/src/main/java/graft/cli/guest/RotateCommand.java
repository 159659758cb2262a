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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft rotate}: gives guests new tokens. */
@Prints(GuestForms.Rotated.class)
@Command(
    name = "rotate",
    mixinStandardHelpOptions = true,
    header = "Replaces the tokens of guests.",
    description = {
      "",
      "The new token goes into the guest and to its server, and the old one becomes invalid; a"
          + " guest with GPUs of several servers gets a new one for each of them. Running programs"
          + " are not interrupted, and may still open further connections of their sessions: if the"
          + " old token was stolen, give --end-sessions. A guest that is off gets its token when"
          + " graft apply starts it.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft rotate lab.yaml",
      "  graft rotate lab alice",
      "  graft rotate --end-sessions lab alice    ends the sessions of the old token at once"
    })
public final class RotateCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(
      index = "1..*",
      paramLabel = "GUEST",
      description = "The guests; all with a vGPU if none is named.")
  List<String> guests;

  @Option(
      names = "--end-sessions",
      description = "End the sessions that were opened with an earlier token of the guest.")
  boolean endSessions;

  @Override
  public Integer call() throws Exception {
    StateFolder state = target.state();
    List<String> rotated =
        GuestTokens.change(
            state,
            "rotate",
            Optional.ofNullable(guests),
            (guest, tokens) -> {
              tokens.rotate(guest, endSessions);
              OperatorAudit.write(
                  output.err(),
                  "token-rotated",
                  Map.of(
                      "deployment",
                      state.deployment().text(),
                      "guest",
                      guest,
                      "endSessions",
                      endSessions));
              output.say(
                  "guest "
                      + guest
                      + ": has a new token"
                      + (endSessions ? ", and the sessions of its earlier ones end" : ""));
            });
    output.result(Map.of("deployment", state.deployment().text(), "rotated", rotated));
    return ExitCode.OK;
  }
}
