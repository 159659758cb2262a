package graft.cli.session;

import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.deployment.OperatedServer;
import graft.remoting.server.operate.OperatorClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft kill}: ends one session. */
@Prints(HostForms.Ended.class)
@Command(
    name = "kill",
    mixinStandardHelpOptions = true,
    header = "Ends one session of a GPU that this host serves.",
    description = {
      "",
      "The program in the guest is told that an operator has ended its session, and its next call"
          + " of CUDA fails. It may open a new session, which graft revoke prevents. The session is"
          + " named as graft sessions shows it.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft kill 5f2a9c0d11e37b64"})
public final class KillCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "SESSION", description = "The session.")
  String session;

  @Option(
      names = "--socket",
      paramLabel = "SOCKET",
      description = "Ask only the server with this socket, see graft serve --operator.")
  Path socket;

  @Override
  public Integer call() {
    List<OperatedServer> servers =
        socket == null ? OperatedServer.all() : List.of(OperatedServer.at(socket.toAbsolutePath()));
    List<String> reasons = new ArrayList<>();
    for (OperatedServer server : servers) {
      try {
        Map<String, Object> ended = OperatorClient.end(server.socket(), session);
        OperatorAudit.write(
            output.err(),
            "session-killed",
            Map.of(
                "server", server.toString(),
                "session", session,
                "guest", String.valueOf(ended.get("guest"))));
        output.say("session " + session + " of " + ended.get("guest") + " has ended");
        output.result(Map.of("server", server.toString(), "ended", ended));
        return ExitCode.OK;
      } catch (IOException | IllegalArgumentException e) {
        reasons.add(server + ": " + e.getMessage());
      }
    }
    throw new GraftException(
        "session '"
            + session
            + "' was not ended"
            + (reasons.isEmpty() ? ": no server runs here" : "; " + String.join("; ", reasons)),
        "see graft sessions");
  }
}
