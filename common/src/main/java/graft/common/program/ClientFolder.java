package graft.common.program;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Where the client's libraries and its check program are on this machine. */
public final class ClientFolder {
  private ClientFolder() {}

  /**
   * The folder: {@code GRAFT_CLIENT_DIR}, else {@code lib/client} of the distribution that this
   * program runs from.
   */
  public static Path path(Map<String, String> environment) {
    String given = environment.getOrDefault("GRAFT_CLIENT_DIR", "");
    if (!given.isEmpty()) {
      return Path.of(given).toAbsolutePath();
    }
    return home().resolve("lib/client").normalize();
  }

  /** The folder of {@link #path}, which must hold the client. */
  public static Path existing() {
    Path folder = path(System.getenv());
    if (!Files.exists(folder.resolve("libcuda.so.1"))) {
      throw new GraftException(
          "there is no client in " + folder, "run ./graft build, or set GRAFT_CLIENT_DIR");
    }
    return folder;
  }

  /** The folder of the distribution that this program runs from. */
  public static Path home() {
    String home = System.getProperty("graft.home", "");
    return Path.of(home.isEmpty() ? "." : home).toAbsolutePath().normalize();
  }
}
