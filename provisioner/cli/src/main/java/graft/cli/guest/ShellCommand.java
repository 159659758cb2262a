package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft shell}: a shell in a guest. */
@Command(
    name = "shell",
    exitCodeOnExecutionException = ExitCode.NOT_RUN,
    mixinStandardHelpOptions = true,
    header = "Opens a shell in a guest.",
    description = {
      "",
      "The shell is root's login shell in the guest, or /bin/sh, on a terminal of its own: graft"
          + " exec -t says how it is joined to this one. Ends with the shell's exit code, or 125 if"
          + " it could not be run. By SSH and by the agent, ~. at the beginning of a line ends the"
          + " session.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft shell lab.yaml alice", "  graft shell lab alice"})
public final class ShellCommand implements Callable<Integer> {
  /**
   * Becomes the login shell that the guest's /etc/passwd gives root. An account that nobody may log
   * in to has a program there that is no shell.
   */
  private static final String LOGIN =
      "line=$(grep '^root:' /etc/passwd) || line=root::0:0::/root:/bin/sh;"
          + " SHELL=${line##*:}; HOME=${line%:*}; HOME=${HOME##*:};"
          + " case $SHELL in */nologin | */false) SHELL=/bin/sh ;; esac;"
          + " [ -x \"$SHELL\" ] || SHELL=/bin/sh;"
          + " USER=root LOGNAME=root; export SHELL HOME USER LOGNAME; unset line;"
          + " cd \"$HOME\" || cd /; exec \"$SHELL\" -l";

  @Mixin Output output;
  @Mixin Target target;
  @Spec CommandSpec spec;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Override
  public Integer call() throws Exception {
    TerminalInGuest.check(spec.commandLine(), output);
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    return TerminalInGuest.run(reached, List.of("/bin/sh", "-c", LOGIN));
  }
}
