package graft.remoting.server.jail;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;

/**
 * The users that workers run as. Each worker has a user that no other worker on the host has, for
 * as long as it lives. Each user is represented by one byte of a file; a server owns a user by a
 * lock on its byte, which the kernel releases when the server ends.
 */
public final class WorkerUsers implements AutoCloseable {
  // struct flock of 64-bit Linux, see SharedChunks
  private static final int FLOCK = 32;

  private final int first;
  private final int last;
  private final int fd;

  @GuardedBy("this")
  private final Set<Integer> taken = new HashSet<>();

  @GuardedBy("this")
  private int next;

  /**
   * Opens the file of locks.
   *
   * @param file the file; its folder is created if it is missing
   * @param first the first user
   * @param last the last user
   */
  public WorkerUsers(Path file, int first, int last) throws IOException {
    this.first = first;
    this.last = last;
    this.next = first;
    Files.createDirectories(
        file.getParent(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    if (!Files.exists(file)) {
      try {
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      } catch (java.nio.file.FileAlreadyExistsException e) {
        // Another server has created it at the same time.
      }
    }
    fd = Libc.open(file.toString(), Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_CLOEXEC);
    if (fd < 0) {
      throw Libc.failure("open " + file);
    }
  }

  /**
   * Returns a user that no other worker has. Users are chosen in turn, so that one is not reused
   * soon.
   *
   * @throws IOException if all users are in use
   */
  public synchronized int take() throws IOException {
    for (int tries = 0; tries <= last - first; tries++) {
      int user = next;
      next = user == last ? first : user + 1;
      if (!taken.contains(user) && lock(user, Libc.F_WRLCK)) {
        taken.add(user);
        return user;
      }
    }
    throw new IOException(
        "all users %d to %d have a worker: give the server more (--worker-users)"
            .formatted(first, last));
  }

  /** Releases the user of a worker whose processes have all ended. */
  public synchronized void give(int user) {
    if (taken.remove(user)) {
      lock(user, Libc.F_UNLCK);
    }
  }

  private boolean lock(int user, int kind) {
    try (Scratch flock = new Scratch(FLOCK)) {
      Memory.putShort(flock.address(), (short) kind);
      Memory.putLong(flock.address() + 8, user);
      Memory.putLong(flock.address() + 16, 1);
      boolean done = Libc.fcntl(fd, Libc.F_OFD_SETLK, flock.address()) == 0;
      if (!done && Native.getLastError() != Libc.EAGAIN) {
        throw new IllegalStateException(Libc.failure("lock a worker's user").getMessage());
      }
      return done;
    }
  }

  @Override
  public void close() {
    Libc.close(fd);
  }
}
