package graft.cli.deployment;

import graft.common.values.TimeSpan;
import graft.deployment.PowerRun.Stopping;
import picocli.CommandLine.Option;

/** How long commands that stop a guest wait for it. */
public final class PowerPatience {
  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "5m", // as libvirt-guests(8) waits by default
      description =
          "How long guests may take to shut down (default: ${DEFAULT-VALUE}). A host with much to"
              + " write to its disks delays them.")
  TimeSpan timeout;

  @Option(
      names = "--force",
      description = "Cut the power of guests that do not shut down in that time.")
  boolean force;

  public Stopping stopping() {
    return new Stopping(timeout.toDuration(), force);
  }
}
