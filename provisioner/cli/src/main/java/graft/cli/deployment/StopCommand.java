package graft.cli.deployment;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft stop}: stops guests and servers. */
@Command(
    name = "stop",
    mixinStandardHelpOptions = true,
    header = "Stops guests and servers of a deployment.",
    description = {
      "",
      "Asks the guests to shut down, waits until they are off, and then stops the servers. Definitions,"
          + " disks, devices and tokens stay: graft start starts them again. Programs that use a server"
          + " which is stopped end with an error.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft stop lab",
      "  graft stop lab alice --timeout 20m",
      "  graft stop lab alice --force"
    })
public final class StopCommand extends PowerCommand {
  @Mixin PowerPatience patience;

  @Override
  public Integer call() throws Exception {
    return run("stop", (run, which) -> run.stop(which, patience.stopping()));
  }
}
