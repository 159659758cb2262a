package graft.guests.bundle;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The options of {@code graft serve} by which those who run a server see what it does. */
public final class ServerViews {
  /** The option that names the socket for operators. */
  public static final String OPERATOR = "--operator";

  /** The option that names the folder by which servers of one GPU find each other. */
  public static final String ARBITERS = "--arbiters";

  /** That folder for servers that run as a user of their own. */
  public static final String ARBITERS_FOLDER = "/run/graft-arbiters";

  private static final String METRICS = "--metrics";
  private static final String SESSION_LOG = "--session-log";

  /** The option's value for no metrics, and for no log of sessions. */
  public static final String OFF = "off";

  private ServerViews() {}

  /** The options that turn off what a descriptor does not want. */
  public static List<String> without(boolean metrics, boolean sessionLog) {
    List<String> options = new ArrayList<>();
    if (!metrics) {
      options.addAll(List.of(METRICS, OFF));
    }
    if (!sessionLog) {
      options.addAll(List.of(SESSION_LOG, OFF));
    }
    return options;
  }

  /**
   * The options for metrics on a Unix socket, and for the log of sessions, unless the server's
   * options turn them off. A socket, and not a port of loopback: every user of the machine can read
   * such a port, and so can a guest whose network QEMU's user mode makes.
   *
   * @param options the other options of the server
   * @param metrics the socket, in a folder that only root and the server's user can enter; empty if
   *     there can be none
   */
  public static List<String> on(List<String> options, Optional<Path> metrics) {
    List<String> on = new ArrayList<>();
    metrics
        .filter(socket -> !options.contains(METRICS))
        .ifPresent(socket -> on.addAll(List.of(METRICS, "unix://" + socket)));
    if (!options.contains(SESSION_LOG)) {
      on.addAll(List.of(SESSION_LOG, "on"));
    }
    return on;
  }
}
