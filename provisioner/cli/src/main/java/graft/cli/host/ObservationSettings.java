package graft.cli.host;

import graft.common.GraftException;
import graft.common.audit.AuditLog;
import graft.common.values.Endpoint;
import graft.remoting.server.pool.SessionLog;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What a server of {@code graft serve} shows of its sessions: metrics, log lines, accounts. */
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

  @Option(
      names = "--accounting",
      paramLabel = "FILE|off",
      defaultValue = OFF,
      description =
          "The file that gets a JSON object for each session when it has ended: who, when, which"
              + " program, GPU seconds, most memory, bytes. The file is renamed at 10 MiB and kept 5"
              + " times (default: ${DEFAULT-VALUE}).")
  String accounting;

  /** Opens the file of the accounts. */
  AuditLog openAccounts() {
    try {
      return accounting.equals(OFF)
          ? AuditLog.none()
          : AuditLog.open(
              Path.of(accounting).toAbsolutePath().toString(),
              message -> System.err.println("WARNING: accounting: " + message));
    } catch (IOException e) {
      throw new GraftException(
          "cannot write accounts to " + accounting + ": " + e.getMessage(),
          "name a file that this user may write, or leave --accounting out",
          e);
    }
  }

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
