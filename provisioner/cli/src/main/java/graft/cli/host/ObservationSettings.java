package graft.cli.host;

import graft.common.values.Endpoint;
import graft.remoting.server.pool.SessionLog;
import graft.remoting.server.system.ListenAddress;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What a server of {@code graft serve} shows of its sessions: metrics, and lines in its log. */
final class ObservationSettings {
  private static final String OFF = "off";

  @Option(
      names = "--metrics",
      paramLabel = "ADDRESS|off",
      defaultValue = OFF,
      description =
          "Where to serve metrics for Prometheus: a Unix socket, unix:///PATH, in a folder that only"
              + " those can enter who may see them, or a loopback address, tcp://127.0.0.1:PORT,"
              + " which every user of this machine can read (default: ${DEFAULT-VALUE}).")
  String metrics;

  @Option(
      names = "--session-log",
      paramLabel = "on|off",
      defaultValue = OFF,
      description =
          "Whether the log has a line for each session's begin and end, with its guest (default:"
              + " ${DEFAULT-VALUE}).")
  ServeCommand.Switch sessionLog;

  /** The address of the metrics; empty for none. */
  Optional<ListenAddress> metrics() {
    return metrics.equals(OFF)
        ? Optional.empty()
        : Optional.of(ListenAddress.parse(Endpoint.parse(metrics).toString()));
  }

  /** Turns the log of sessions on, if it is wanted. Called before the server's classes load. */
  void startLog() {
    if (sessionLog == ServeCommand.Switch.on) {
      System.setProperty("org.slf4j.simpleLogger.log." + SessionLog.LOGGER, "info");
    }
  }
}
