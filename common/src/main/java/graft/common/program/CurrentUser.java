package graft.common.program;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The user that this process runs as, and the folder of Graft's state for this user. */
public final class CurrentUser {
  private CurrentUser() {}

  /** Whether this process runs as root. */
  public static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  /**
   * The folder for sockets of this user's servers: {@code /run/graft-serve} for root, and {@code
   * graft} in the XDG runtime folder for other users; empty if there is none.
   */
  public static Optional<Path> runtimeFolder(Map<String, String> environment) {
    if (isRoot()) {
      return Optional.of(Path.of("/run/graft-serve"));
    }
    String xdg = environment.getOrDefault("XDG_RUNTIME_DIR", "");
    return xdg.isEmpty() ? Optional.empty() : Optional.of(Path.of(xdg, "graft").toAbsolutePath());
  }

  /**
   * The folder of the state of all deployments: {@code GRAFT_STATE_DIR}, or else {@code
   * /var/lib/graft} for root and the XDG state folder for other users.
   */
  public static Path stateFolder(Map<String, String> environment) {
    String given = environment.getOrDefault("GRAFT_STATE_DIR", "");
    if (!given.isEmpty()) {
      return Path.of(given).toAbsolutePath();
    }
    if (isRoot()) {
      return Path.of("/var/lib/graft");
    }
    String xdg = environment.getOrDefault("XDG_STATE_HOME", "");
    Path base =
        xdg.isEmpty() ? Path.of(System.getProperty("user.home"), ".local/state") : Path.of(xdg);
    return base.resolve("graft").toAbsolutePath();
  }
}
