package graft.remoting.server.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.util.Map;
import java.util.TreeMap;

/**
 * The chunks of a shared file that belong to this process. A chunk is owned by a lock on its bytes
 * (F_OFD_SETLK, see fcntl(2)). In this way processes that know nothing of each other share a file,
 * nothing that is stored in the file is trusted, and the kernel releases the chunks of a process
 * however it ended.
 */
final class SharedChunks {
  // struct flock of 64-bit Linux: l_type and l_whence are shorts, then l_start, l_len and l_pid.
  private static final int FLOCK = 32;
  private static final int START = 8;
  private static final int LENGTH = 16;

  private final int fd;
  private final long bytes;

  @GuardedBy("this")
  private final TreeMap<Long, Long> own = new TreeMap<>();

  /**
   * Creates the chunks of a file.
   *
   * @param fd opened by this process alone; the locks end with it
   * @param bytes the size of the file
   */
  SharedChunks(int fd, long bytes) {
    this.fd = fd;
    this.bytes = bytes;
  }

  /**
   * Allocates the first free chunk that is large enough, and returns its offset, -1 if there is
   * none.
   *
   * @param alignment the alignment of the offset, a power of two and at least a page
   */
  synchronized long take(long length, long alignment) {
    long at = 0;
    while (at <= bytes - length) {
      // A process's own locks do not conflict with each other, so that its chunks have to be
      // checked here.
      Map.Entry<Long, Long> before = own.floorEntry(at + length - 1);
      if (before != null && before.getKey() + before.getValue() > at) {
        at = align(before.getKey() + before.getValue(), alignment);
        continue;
      }
      long other = endOfOther(at, length);
      if (other > at) {
        at = align(other, alignment);
      } else if (lock(at, length, Libc.F_WRLCK)) {
        own.put(at, length);
        return at;
      }
      // Another process locked the chunk in the meantime: search again.
    }
    return -1;
  }

  private static long align(long offset, long alignment) {
    return (offset + alignment - 1) & -alignment;
  }

  /** Releases a chunk. */
  synchronized void give(long offset, long length) {
    if (own.remove(offset, length)) {
      lock(offset, length, Libc.F_UNLCK);
    }
  }

  /** Returns the end of another process' chunk in this range, 0 if the range is free. */
  private long endOfOther(long offset, long length) {
    try (Scratch flock = describe(offset, length, Libc.F_WRLCK)) {
      long memory = flock.address();
      if (Libc.fcntl(fd, Libc.F_OFD_GETLK, memory) < 0) {
        return bytes;
      }
      if (Memory.getShort(memory) == Libc.F_UNLCK) {
        return 0;
      }
      long its = Memory.getLong(memory + LENGTH);
      return its == 0 ? bytes : Memory.getLong(memory + START) + its;
    }
  }

  private boolean lock(long offset, long length, int type) {
    try (Scratch flock = describe(offset, length, type)) {
      if (Libc.fcntl(fd, Libc.F_OFD_SETLK, flock.address()) == 0) {
        return true;
      }
      int errno = Native.getLastError();
      if (errno != Libc.EAGAIN) {
        throw new IllegalStateException(
            "lock part of the shared memory file: " + Libc.strerror(errno));
      }
      return false;
    }
  }

  private static Scratch describe(long offset, long length, int type) {
    Scratch flock = new Scratch(FLOCK);
    Memory.putShort(flock.address(), (short) type);
    Memory.putLong(flock.address() + START, offset);
    Memory.putLong(flock.address() + LENGTH, length);
    return flock;
  }
}
