package graft.deployment;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.guests.connection.GuestConnection;
import graft.guests.copy.CopiedFolder;
import graft.guests.copy.Counted;
import graft.guests.copy.GuestFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/**
 * Copies of files and folders between this machine and a guest. A copy of a file appears under its
 * name only when it is complete.
 */
public final class GuestFiles {
  private static final String NEW = ".graft-new";

  private final GuestConnection connection;
  private final LongConsumer progress;

  /**
   * Files of a guest.
   *
   * @param progress gets the number of bytes that have been copied, now and then
   */
  public GuestFiles(GuestConnection connection, LongConsumer progress) {
    this.connection = connection;
    this.progress = progress;
  }

  /**
   * Copies a file of the guest.
   *
   * @param to a file, or a folder that gets a file of the same name
   * @return its size
   */
  public long fetch(String path, Path to) throws IOException {
    Path whole = destination(path, to);
    try {
      PrivateFiles.write(whole, content -> connection.get(path, Counted.output(content, progress)));
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
    if (Files.isDirectory(file)) {
      throw new GraftException(file + " is a folder", "copy it with --recursive");
    }
    if (!Files.isReadable(file)) {
      throw new GraftException("there is no file " + file + " that can be read", "");
    }
    String copy = destination(file, path);
    try (InputStream content = Files.newInputStream(file)) {
      connection.put(
          Counted.input(content, progress), copy + NEW, Files.isExecutable(file) ? 0755 : 0644);
    }
    GuestPrograms.run(connection, "mv", "-f", copy + NEW, copy);
    return Files.size(file);
  }

  /**
   * Copies a folder of the guest. Its links are left out.
   *
   * @param to a folder that gets a folder of the same name, or the new folder
   */
  public CopiedFolder fetchFolder(String path, Path to) throws IOException {
    String from = path.replaceFirst("/+$", "");
    return new GuestFolder(connection, path).fetch(destination(from, to), progress);
  }

  /**
   * Copies a folder into the guest.
   *
   * @param path the new folder, or the folder in which it will be if it ends in a slash
   */
  public CopiedFolder bringFolder(Path folder, String path) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new GraftException("there is no folder " + folder, "copy a file without --recursive");
    }
    Path from = folder.toRealPath();
    return new GuestFolder(connection, destination(from, path)).bring(from, progress);
  }

  private static Path destination(String path, Path to) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return (Files.isDirectory(to) ? to.resolve(name) : to).toAbsolutePath();
  }

  private static String destination(Path from, String path) {
    return path.endsWith("/") ? path + from.getFileName() : path;
  }
}
