package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.system.Libc;

/** The client's side of shared memory, for tests. */
final class MemoryFile {
  private static final int ALLOW_SEALING = 2;
  private static final int F_ADD_SEALS = 1033;

  static {
    Native.register(MemoryFile.class, "c");
  }

  private MemoryFile() {}

  static native int memfd_create(String name, int flags);

  static native int ftruncate(int fd, long length);

  /** A file in memory of that size, sealed against shrinking or not. */
  static int create(long bytes, boolean sealed) {
    int fd = memfd_create("test", ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, bytes) < 0) {
      throw new AssertionError("memfd: " + Native.getLastError());
    }
    if (sealed && Libc.fcntl(fd, F_ADD_SEALS, Libc.F_SEAL_SHRINK) < 0) {
      throw new AssertionError("seal: " + Native.getLastError());
    }
    return fd;
  }
}
