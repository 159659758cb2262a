package graft.remoting.server.system;

import java.io.IOException;

/**
 * Memory that the server shares with workers by a descriptor. Its size cannot change, so that no
 * worker can make the memory of the others disappear.
 *
 * @param fd the descriptor, which belongs to this object
 * @param address where this process has mapped the memory, which begins as zeros
 * @param bytes its size
 */
public record SealedMemory(int fd, long address, long bytes) implements AutoCloseable {
  /**
   * Makes such memory.
   *
   * @param name as /proc shows it
   */
  public static SealedMemory create(String name, long bytes) throws IOException {
    int fd = Libc.memfd_create(name, Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    if (fd < 0) {
      throw Libc.failure("create the shared memory " + name);
    }
    long mapped = -1;
    if (Libc.ftruncate(fd, bytes) == 0
        && Libc.fcntl(fd, Libc.F_ADD_SEALS, Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW) == 0) {
      mapped = Libc.mmap(0, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    }
    if (mapped == -1) {
      IOException failure = Libc.failure("map the shared memory " + name);
      Descriptors.discard(fd);
      throw failure;
    }
    return new SealedMemory(fd, mapped, bytes);
  }

  /**
   * Maps such memory that another process has made.
   *
   * @param fd the descriptor, which this method takes over
   * @throws IOException if the descriptor is of anything else, or the memory of another size
   */
  public static SealedMemory open(int fd, long bytes) throws IOException {
    int seals = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW;
    int set = Libc.fcntl(fd, Libc.F_GET_SEALS, 0); // -1 for what has none
    long mapped = -1;
    if (set >= 0 && (set & seals) == seals && Libc.lseek(fd, 0, Libc.SEEK_END) == bytes) {
      mapped = Libc.mmap(0, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    }
    if (mapped == -1) {
      Descriptors.discard(fd);
      throw new IOException("a descriptor is not of memory of " + bytes + " bytes to share");
    }
    return new SealedMemory(fd, mapped, bytes);
  }

  @Override
  public void close() {
    Libc.munmap(address, bytes);
    Descriptors.discard(fd);
  }
}
