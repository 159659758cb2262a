package graft.common.audit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A file that grows by whole lines up to a size, and is then renamed: {@code FILE} becomes {@code
 * FILE.1}, {@code FILE.1} becomes {@code FILE.2}; the oldest is deleted. Several processes, and
 * several objects of one process, may append to one file. The files have mode 0600.
 */
public final class RotatedFile {
  private static final int MOST_KEPT = 9;

  /** A lock on a file keeps out other processes; a second one in the same process fails. */
  private static final Object IN_THIS_PROCESS = new Object();

  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private final Path file;
  private final long largest;
  private final int kept;

  /**
   * A file that need not exist yet.
   *
   * @param largest the size in bytes at which the file is renamed
   * @param kept the number of renamed files that are kept, 1 to 9
   */
  public RotatedFile(Path file, long largest, int kept) {
    if (kept < 1 || kept > MOST_KEPT) {
      throw new IllegalArgumentException("a file is kept 1 to " + MOST_KEPT + " times");
    }
    this.file = file.toAbsolutePath();
    this.largest = largest;
    this.kept = kept;
  }

  /** Returns the paths that a file and its renamed parts can have, however many are kept. */
  public static List<Path> parts(Path file) {
    List<Path> parts = new ArrayList<>(List.of(file, lock(file)));
    for (int i = 1; i <= MOST_KEPT; i++) {
      parts.add(numbered(file, i));
    }
    return parts;
  }

  private static Path lock(Path file) {
    return file.resolveSibling(file.getFileName() + ".lock");
  }

  /**
   * Appends bytes, which should end with a line feed.
   *
   * @throws IOException if the file cannot be written, or is a symbolic link
   */
  public void append(byte[] bytes, int offset, int length) throws IOException {
    synchronized (IN_THIS_PROCESS) {
      appendAlone(bytes, offset, length);
    }
  }

  private void appendAlone(byte[] bytes, int offset, int length) throws IOException {
    create(lock(file));
    try (FileChannel lock =
            FileChannel.open(lock(file), StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        FileLock held = lock.lock()) {
      if (held.isValid()
          && Files.exists(file, LinkOption.NOFOLLOW_LINKS)
          && Files.size(file) + length > largest) {
        rotate();
      }
      create(file);
      try (FileChannel out =
          FileChannel.open(file, StandardOpenOption.APPEND, LinkOption.NOFOLLOW_LINKS)) {
        ByteBuffer left = ByteBuffer.wrap(bytes, offset, length);
        while (left.hasRemaining()) {
          out.write(left);
        }
      }
    }
  }

  private static void create(Path path) throws IOException {
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try {
      Files.createFile(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } catch (FileAlreadyExistsException e) {
      // Another process has just created it.
    }
  }

  private void rotate() throws IOException {
    for (int i = kept; i > 0; i--) {
      Path from = i == 1 ? file : numbered(file, i - 1);
      if (Files.exists(from, LinkOption.NOFOLLOW_LINKS)) {
        Files.move(from, numbered(file, i), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private static Path numbered(Path file, int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }
}
