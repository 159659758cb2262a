package graft.cli.deployment;

import graft.deployment.PowerRun;
import picocli.CommandLine.Command;

/** {@code graft start}: starts guests and servers. */
@Command(
    name = "start",
    mixinStandardHelpOptions = true,
    header = "Starts guests and servers of a deployment.",
    description = {
      "",
      "Starts servers that have ended and guests that are off, and waits until they serve or are ready."
          + " graft apply does so too, and makes what is missing.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft start lab", "  graft start lab alice"})
public final class StartCommand extends PowerCommand {

  @Override
  public Integer call() throws Exception {
    return run("start", PowerRun::start);
  }
}
