package graft.deployment.state;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The lock by which useradd(8) and its relatives keep each other from a file of /etc: another file,
 * NAME.lock, with the number of the process that holds it. Whoever finds one of a process that has
 * ended removes it.
 */
final class ShadowLock {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Path lock;

  private ShadowLock(Path lock) {
    this.lock = lock;
  }

  /**
   * Takes the lock of a file.
   *
   * @throws IOException if another process holds it for longer than that
   */
  static ShadowLock of(Path file, Duration limit) throws IOException {
    String process = String.valueOf(ProcessHandle.current().pid());
    Path lock = file.resolveSibling(file.getFileName() + ".lock");
    // As a link of a whole file it never lacks its number.
    Path own = file.resolveSibling(file.getFileName() + "." + process);
    Files.writeString(own, process);
    try {
      long end = System.nanoTime() + limit.toNanos();
      while (!take(own, lock)) {
        if (System.nanoTime() - end >= 0) {
          throw new IOException(lock + " is held by another program, such as useradd");
        }
        TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
      }
      return new ShadowLock(lock);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + lock, e);
    } finally {
      Files.deleteIfExists(own);
    }
  }

  private static boolean take(Path own, Path lock) throws IOException {
    try {
      Files.createLink(lock, own);
      return true;
    } catch (FileAlreadyExistsException e) {
      if (hasEnded(lock)) {
        Files.deleteIfExists(lock);
      }
      return false;
    }
  }

  /** Whether its process has ended; a lock without a number is left to whoever made it. */
  private static boolean hasEnded(Path lock) throws IOException {
    try {
      long process = Long.parseLong(Files.readString(lock).replace("\0", "").strip());
      return ProcessHandle.of(process).isEmpty();
    } catch (NoSuchFileException | NumberFormatException e) {
      return false;
    }
  }

  void release() throws IOException {
    Files.deleteIfExists(lock);
  }
}
