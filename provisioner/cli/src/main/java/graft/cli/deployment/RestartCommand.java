package graft.cli.deployment;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft restart}: stops and starts guests and servers. */
@Command(
    name = "restart",
    mixinStandardHelpOptions = true,
    header = "Stops and starts guests and servers of a deployment.",
    description = {
      "",
      "As graft stop and then graft start. Programs that use a server which is restarted end with an"
          + " error.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft restart lab alice", "  graft restart lab gpu0      the server of a GPU"})
public final class RestartCommand extends PowerCommand {
  @Mixin PowerPatience patience;

  @Override
  public Integer call() throws Exception {
    return run("restart", (run, which) -> run.restart(which, patience.stopping()));
  }
}
