package graft.common.program;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Finds the client's libraries and the client's check program on this machine. */
public final class ClientFolder {
  private ClientFolder() {}

  /**
   * The folder of the client: {@code GRAFT_CLIENT_DIR}, or {@code lib/client} in the distribution
   * that contains this program.
   */
  public static Path path(Map<String, String> environment) {
    String given = environment.getOrDefault("GRAFT_CLIENT_DIR", "");
    if (!given.isEmpty()) {
      return Path.of(given).toAbsolutePath();
    }
    return home().resolve("lib/client").normalize();
  }

  /** The folder of {@link #path}. Throws if the folder does not contain the client. */
  public static Path existing() {
    Path folder = path(System.getenv());
    if (!Files.exists(folder.resolve("libcuda.so.1"))) {
      throw new GraftException(
          "there is no client in " + folder, "run ./graft build, or set GRAFT_CLIENT_DIR");
    }
    return folder;
  }

  /** The folder of the distribution that contains this program. */
  public static Path home() {
    String home = System.getProperty("graft.home", "");
    return Path.of(home.isEmpty() ? "." : home).toAbsolutePath().normalize();
  }
}
