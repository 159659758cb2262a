package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.system.Libc;

/** The client's side of shared memory, for tests. */
public final class MemoryFile {
  private static final int ALLOW_SEALING = 2;
  private static final int F_ADD_SEALS = 1033;
  private static final int PUNCH_HOLE_KEEP_SIZE = 3;

  static {
    Native.register(MemoryFile.class, "c");
  }

  private MemoryFile() {}

  static native int memfd_create(String name, int flags);

  static native int ftruncate(int fd, long length);

  static native int fallocate(int fd, int mode, long offset, long length);

  /** A file in memory of that size, sealed against shrinking or not. */
  public static int create(long bytes, boolean sealed) {
    int fd = memfd_create("test", ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, bytes) < 0) {
      throw new AssertionError("memfd: " + Native.getLastError());
    }
    if (sealed && Libc.fcntl(fd, F_ADD_SEALS, Libc.F_SEAL_SHRINK) < 0) {
      throw new AssertionError("seal: " + Native.getLastError());
    }
    return fd;
  }

  /** Removes the pages of a range, which stays readable as zeros. */
  public static void punch(int fd, long offset, long bytes) {
    if (fallocate(fd, PUNCH_HOLE_KEEP_SIZE, offset, bytes) < 0) {
      throw new AssertionError("fallocate: " + Native.getLastError());
    }
  }
}
