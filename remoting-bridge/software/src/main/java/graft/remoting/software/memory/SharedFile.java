package graft.remoting.software.memory;

/** An unnamed file whose memory several processes can map. */
public final class SharedFile implements AutoCloseable {
  private static final long PAGE = 4096;

  // <sys/mman.h> and <fcntl.h> on x86-64
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int MAP_FIXED = 0x10;
  private static final int CLOSE_ON_EXEC = 1;
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x80000;

  private final int descriptor;

  private SharedFile(int descriptor) {
    this.descriptor = descriptor;
  }

  /** Creates a file full of zeros; null if the system cannot. */
  public static SharedFile create(long bytes) {
    int made = VirtualMemory.LibC.INSTANCE.memfd_create("graft-device-memory", CLOSE_ON_EXEC);
    if (made >= 0 && VirtualMemory.LibC.INSTANCE.ftruncate(made, bytes) != 0) {
      VirtualMemory.LibC.INSTANCE.close(made);
      made = -1;
    }
    return made < 0 ? null : new SharedFile(made);
  }

  /** Takes over a descriptor of this process. */
  public static SharedFile adopt(int descriptor) {
    return new SharedFile(descriptor);
  }

  /**
   * Opens the file of another process of this user by the descriptor in that process; null if it no
   * longer exists.
   */
  public static SharedFile of(long process, int descriptor) {
    int opened =
        VirtualMemory.LibC.INSTANCE.open(
            "/proc/" + process + "/fd/" + descriptor, O_RDWR | O_CLOEXEC);
    return opened < 0 ? null : new SharedFile(opened);
  }

  /** Returns the descriptor in this process. */
  public int descriptor() {
    return descriptor;
  }

  /** Copies memory into the file. */
  boolean write(long offset, long address, long bytes) {
    for (long at = 0; at < bytes; ) {
      long count =
          VirtualMemory.LibC.INSTANCE.pwrite(descriptor, address + at, bytes - at, offset + at);
      if (count <= 0) {
        return false;
      }
      at += count;
    }
    return true;
  }

  /** Maps the file in the place of memory; both are whole pages. */
  boolean replace(long address, long bytes) {
    return VirtualMemory.LibC.INSTANCE.mmap(
            address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
        == address;
  }

  /**
   * Maps a part of the file, which need not start at a page, at any free address.
   *
   * @return the address, 0 if there is none
   */
  public long map(long offset, long bytes) {
    long skip = offset % PAGE;
    long at =
        VirtualMemory.LibC.INSTANCE.mmap(
            0, bytes + skip, PROT_READ_WRITE, MAP_SHARED, descriptor, offset - skip);
    return at == -1 ? 0 : at + skip;
  }

  /** Ends {@link #map}. */
  public static void unmap(long address, long bytes) {
    long skip = address % PAGE;
    VirtualMemory.LibC.INSTANCE.munmap(address - skip, bytes + skip);
  }

  @Override
  public void close() {
    VirtualMemory.LibC.INSTANCE.close(descriptor);
  }
}
