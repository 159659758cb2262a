package graft.provisioner.observe;

import graft.provisioner.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

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
    String home = System.getProperty("graft.home", "");
    return Path.of(home.isEmpty() ? "." : home).toAbsolutePath().resolve("lib/client").normalize();
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

  /** The files in it, in the order of their names; none if there is no such folder. */
  public static List<FileStamp> files(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    List<FileStamp> files = new ArrayList<>();
    try (Stream<Path> children = Files.list(folder)) {
      for (Path file : children.sorted().toList()) {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        // The plain .so is for those who build programs.
        if (attributes.isRegularFile() && !file.toString().endsWith(".so")) {
          files.add(
              new FileStamp(file, attributes.size(), attributes.lastModifiedTime().toMillis()));
        }
      }
    } catch (IOException e) {
      throw new GraftException("cannot list the client's folder " + folder + ": " + e, "", e);
    }
    return files;
  }
}
