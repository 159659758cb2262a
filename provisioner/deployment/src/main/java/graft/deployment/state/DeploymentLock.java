package graft.deployment.state;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Keeps a second graft from working on the same deployment. The kernel releases the lock when the
 * process ends.
 */
public final class DeploymentLock {
  private final FileChannel channel;

  private DeploymentLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes the lock.
   *
   * @throws BusyException if another process has it
   */
  private static DeploymentLock take(StateFolder folder) {
    folder.create();
    try {
      FileChannel channel =
          FileChannel.open(
              folder.lock(),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      FileLock lock = tryLock(channel);
      if (lock == null) {
        String holder = read(channel);
        channel.close();
        throw new BusyException(folder, holder);
      }
      // One length for all, in the place of the earlier one: that needs no space on a full disk.
      String pid = String.format(Locale.ROOT, "%-20d", ProcessHandle.current().pid());
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.UTF_8)), 0);
      return new DeploymentLock(channel);
    } catch (IOException e) {
      throw new GraftException(
          "cannot lock " + folder.lock() + ": " + e.getMessage(),
          "may this user write there, and is there space on its disk?",
          e);
    }
  }

  /** Does the work while it holds the lock. */
  public static <T> T holding(StateFolder folder, Callable<T> work) throws Exception {
    DeploymentLock lock = take(folder);
    try {
      return work.call();
    } finally {
      lock.close();
    }
  }

  /**
   * Asks the process that holds the lock to end, as Ctrl-C does.
   *
   * @return whether there was one
   */
  public static boolean interrupt(StateFolder folder) {
    if (!Files.exists(folder.lock())) {
      return false;
    }
    try (FileChannel channel =
        FileChannel.open(folder.lock(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (tryLock(channel) != null) {
        return false; // nobody works on the deployment
      }
      return ProcessHandle.of(Long.parseLong(read(channel)))
          .map(ProcessHandle::destroy)
          .orElse(false);
    } catch (IOException | NumberFormatException e) {
      return false;
    }
  }

  private static FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(32);
    int count = channel.read(text, 0);
    return count <= 0 ? "" : new String(text.array(), 0, count, StandardCharsets.UTF_8).strip();
  }

  private void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new GraftException("cannot unlock the deployment: " + e.getMessage(), "", e);
    }
  }

  /** Another process works on the deployment. */
  public static final class BusyException extends GraftException {
    private static final long serialVersionUID = 1;

    BusyException(StateFolder folder, String holder) {
      super(
          "another graft works on '"
              + folder.deployment()
              + "'"
              + (holder.isEmpty() ? "" : ": process " + holder),
          "wait for it, or stop it with Ctrl-C");
    }
  }
}
