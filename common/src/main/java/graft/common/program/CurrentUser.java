package graft.common.program;

import java.nio.file.Path;
import java.util.Map;

/**
 * The user that this process runs as, and the folder that Graft's state for this user is kept in.
 */
public final class CurrentUser {
  private CurrentUser() {}

  /** Whether this process is root's. */
  public static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  /**
   * The folder of the state of all deployments: {@code GRAFT_STATE_DIR}, else {@code
   * /var/lib/graft} for root and the XDG state folder for others.
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
