package graft.cli.session;

import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft sessions}: shows who uses the GPUs that this host serves. */
@Prints(HostForms.Sessions.class)
@Command(
    name = "sessions",
    mixinStandardHelpOptions = true,
    header = "Shows who uses the GPUs that this host serves.",
    description = {
      "",
      "Asks the servers of this user's deployments and of graft serve on this host for their"
          + " sessions. PROGRAM and PID are what the guest claims. GOT is the part of the time"
          + " since the session began in which its work ran on the GPU. A - means that nobody"
          + " knows. Ends with 1 if a server does not"
          + " answer.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft sessions",
      "  graft sessions lab --output json",
      "  graft sessions --socket /run/graft-server/lab.gpu0/operator.sock"
    })
public final class SessionsCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Servers servers;

  @Override
  public Integer call() throws Exception {
    List<Servers.Answer> answers = servers.ask();
    output.result(Map.of("servers", answers.stream().map(Servers.Answer::toTree).toList()));
    output.say(answers.isEmpty() ? Servers.NONE : new SessionTable().text(answers).stripTrailing());
    return Servers.allAnswered(answers, output) ? ExitCode.OK : ExitCode.FAILED;
  }
}
