package graft.remoting.server.transport;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;

/**
 * Memory that a client and its worker share, a file of which both map the same chunks at the same
 * addresses, the client's ({@code client/src/transport/ring.h}).
 */
public abstract class Region {
  /** The rings' part: what both ends map at once. */
  static final long CONTROL = (1 << 20) + 2 * (4 << 20);

  static final long PAGE = 4096;

  /**
   * Where clients put it ({@code client/src/transport/region.h}); this process has nothing else
   * there.
   */
  private static final long LOWEST = 0x2000_0000_0000L;

  private static final long HIGHEST = 0x3000_0000_0000L;

  private final int fd;
  private final long address;
  private final long bytes;

  /**
   * A region of which nothing is mapped yet.
   *
   * @param fd the file's descriptor; the region's from now on
   * @param address where the client has the file's begin
   * @param bytes the file's size in the address space
   */
  Region(int fd, long address, long bytes) {
    this.fd = fd;
    this.address = address;
    this.bytes = bytes;
    if ((address & PAGE - 1) != 0 || address < LOWEST || address > HIGHEST - bytes) {
      throw new ProtocolException("shared memory at an address that cannot be");
    }
  }

  final int fd() {
    return fd;
  }

  final long bytes() {
    return bytes;
  }

  /** Where the region begins, here and at the client. */
  public final long address() {
    return address;
  }

  /** Where the part of the rings begins. */
  abstract long rings();

  /** How long to look at the rings, with pauses, before the doorbell is waited for. */
  long patienceNanos() {
    return 0;
  }

  /** Maps a chunk that the client chose; its address, 0 if that cannot be. */
  public abstract long map(long offset, long length);

  /** Chooses and maps a chunk; its address, 0 if there is no room. */
  public abstract long take(long length);

  /** Takes back what {@link #map} or {@link #take} did. */
  public abstract void unmap(long offset, long length);

  /** Whether it is whole pages within the file. */
  final boolean holds(long offset, long length) {
    return offset >= 0
        && length > 0
        && offset <= bytes
        && length <= bytes - offset
        && ((offset | length) & PAGE - 1) == 0;
  }

  /** Maps part of the file where the client has it; its address, 0 if something else is there. */
  final long mapAt(long offset, long length) {
    long wanted = address + offset;
    long got =
        Libc.mmap(
            wanted,
            length,
            Libc.PROT_READ | Libc.PROT_WRITE,
            Libc.MAP_SHARED | Libc.MAP_FIXED_NOREPLACE,
            fd,
            offset);
    if (got == -1) {
      return 0;
    }
    if (got != wanted) {
      // A kernel before 4.17 takes the address for a wish.
      Libc.munmap(got, length);
      return 0;
    }
    return got;
  }

  final void unmapAt(long offset, long length) {
    Libc.munmap(address + offset, length);
  }
}
