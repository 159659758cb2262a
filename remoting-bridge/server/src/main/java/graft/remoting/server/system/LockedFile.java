package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A file that one object at a time can lock; the kernel releases the lock with the process. The
 * lock belongs to the open file (F_OFD_SETLK, see fcntl(2)) and not to the process, whose locks end
 * as soon as any part of it closes the same file.
 */
final class LockedFile implements AutoCloseable {
  private static final int FLOCK = 32;

  private final Path path;
  private final int fd;

  /** A number that was closed may be another file's already. */
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private LockedFile(Path path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Locks a file, which is made if there is none.
   *
   * @return null if another process, or another object of this one, has locked it
   */
  static LockedFile tryLock(Path path) throws IOException {
    while (true) {
      make(path);
      int fd = Libc.open(path.toString(), Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_CLOEXEC);
      if (fd < 0) {
        if (Native.getLastError() == Libc.ENOENT) {
          continue; // the last holder has just removed it
        }
        throw Libc.failure("open " + path);
      }
      LockedFile file = new LockedFile(path, fd);
      if (!file.lock()) {
        file.closeFile();
        return null;
      }
      if (file.isStillThere()) {
        return file;
      }
      file.closeFile(); // The last holder removed the file between open and lock: try again.
    }
  }

  private static void make(Path path) throws IOException {
    try {
      Files.createFile(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (FileAlreadyExistsException e) {
      // Another one may have made and locked it.
    }
  }

  private boolean lock() throws IOException {
    try (Scratch flock = new Scratch(FLOCK)) {
      Memory.fill(flock.address(), FLOCK, (byte) 0);
      Memory.putShort(flock.address(), (short) Libc.F_WRLCK);
      if (Libc.fcntl(fd, Libc.F_OFD_SETLK, flock.address()) == 0) {
        return true;
      }
      if (Native.getLastError() == Libc.EAGAIN) {
        return false;
      }
      SystemCallException failure = Libc.failure("lock " + path);
      closeFile();
      throw failure;
    }
  }

  private boolean isStillThere() throws IOException {
    try {
      return key(path).equals(key(Path.of("/proc/self/fd", Integer.toString(fd))));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static Object key(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  private void closeFile() {
    if (!isClosed.getAndSet(true)) {
      Libc.close(fd);
    }
  }

  /** Removes the file, and releases the lock. */
  @Override
  public void close() {
    if (isClosed.get()) {
      return;
    }
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // A file that stays behind is used again.
    }
    closeFile();
  }
}
