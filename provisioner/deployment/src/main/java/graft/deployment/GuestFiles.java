package graft.deployment;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.guests.connection.GuestConnection;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Copies of files between this machine and a guest. A copy appears under its name only when it is
 * complete.
 */
public final class GuestFiles {
  private static final String NEW = ".graft-new";

  private final GuestConnection connection;

  public GuestFiles(GuestConnection connection) {
    this.connection = connection;
  }

  /**
   * Copies a file of the guest.
   *
   * @param to a file, or a folder that gets a file of the same name
   * @return its size
   */
  public long fetch(String path, Path to) throws IOException {
    Path copy = Files.isDirectory(to) ? to.resolve(path.substring(path.lastIndexOf('/') + 1)) : to;
    Path whole = copy.toAbsolutePath();
    try {
      PrivateFiles.write(whole, content -> connection.get(path, content));
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(whole.resolveSibling(whole.getFileName() + ".unfinished"));
      throw e;
    }
    return Files.size(whole);
  }

  /**
   * Copies a file into the guest, with its executable bit.
   *
   * @param path a file, or a folder if it ends in a slash
   * @return its size
   */
  public long bring(Path file, String path) throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new GraftException("there is no file " + file + " that can be read", "");
    }
    String copy = path.endsWith("/") ? path + file.getFileName() : path;
    try (InputStream content = Files.newInputStream(file)) {
      connection.put(content, copy + NEW, Files.isExecutable(file) ? 0755 : 0644);
    }
    GuestPrograms.run(connection, "mv", "-f", copy + NEW, copy);
    return Files.size(file);
  }
}
