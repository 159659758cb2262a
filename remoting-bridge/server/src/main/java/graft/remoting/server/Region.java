package graft.remoting.server;

import java.io.IOException;

/**
 * The client's shared memory ({@code client/src/ring.h}): a sparse file of which both ends map the
 * same pieces at the same addresses, the client's.
 */
final class Region {
  /** What both ends map at once: the rings. */
  static final long CONTROL = (1 << 20) + 2 * (4 << 20);

  /** The region's size in the address space. */
  static final long BYTES = 1L << 40;

  /** Where the client may put it, so that it cannot overlay what this process needs. */
  private static final long LOWEST = 1L << 32;

  private static final long HIGHEST = (1L << 47) - BYTES;

  private static final long PAGE = 4096;

  private final int fd;
  private final long address;

  /**
   * Maps the rings' part.
   *
   * @param fd the descriptor that the client sent; the region's from now on
   * @param address where the client has it
   */
  Region(int fd, long address) throws IOException {
    this.fd = fd;
    this.address = address;
    if ((address & PAGE - 1) != 0 || address < LOWEST || address > HIGHEST) {
      throw new ProtocolException("shared memory at an address that cannot be");
    }
    checkSealed();
    if (mapAt(0, CONTROL) == 0) {
      throw new ProtocolException(
          "the client's shared memory cannot be mapped at its address in this process");
    }
  }

  /** A file that could shrink would end this process when it does. */
  private void checkSealed() throws IOException {
    int seals = Libc.fcntl(fd, Libc.F_GET_SEALS, 0);
    if (seals < 0 || (seals & Libc.F_SEAL_SHRINK) == 0) {
      throw new ProtocolException("the client's shared memory may shrink; it must be sealed");
    }
    long size = Libc.lseek(fd, 0, Libc.SEEK_END);
    if (size < BYTES) {
      throw new ProtocolException("the client's shared memory has " + size + " bytes, too few");
    }
  }

  /** Where the region begins, here and at the client. */
  long address() {
    return address;
  }

  /** Maps a piece behind the rings; its address, 0 if that cannot be. */
  long map(long offset, long bytes) {
    if (offset < CONTROL
        || bytes <= 0
        || offset > BYTES
        || bytes > BYTES - offset
        || ((offset | bytes) & PAGE - 1) != 0) {
      return 0;
    }
    return mapAt(offset, bytes);
  }

  private long mapAt(long offset, long bytes) {
    long wanted = address + offset;
    long got =
        Libc.mmap(
            wanted,
            bytes,
            Libc.PROT_READ | Libc.PROT_WRITE,
            Libc.MAP_SHARED | Libc.MAP_FIXED_NOREPLACE,
            fd,
            offset);
    if (got == -1) {
      return 0;
    }
    if (got != wanted) {
      // A kernel before 4.17 takes the address for a wish.
      Libc.munmap(got, bytes);
      return 0;
    }
    return got;
  }

  /** Takes back what {@link #map} did. */
  void unmap(long offset, long bytes) {
    Libc.munmap(address + offset, bytes);
  }
}
