package graft.remoting.server.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;

/**
 * Memory that a client and its worker share: a file of which both map the same chunks at the same
 * addresses, which the client chooses ({@code client/src/transport/ring.h}).
 */
public abstract class Region {
  /** The size of the part that holds the rings, which both ends map first. */
  static final long CONTROL = (1 << 20) + 2 * (4 << 20);

  static final long PAGE = 4096;

  /**
   * The addresses that clients choose from ({@code client/src/transport/region.h}); this process
   * has nothing else there.
   */
  private static final long LOWEST = 0x2000_0000_0000L;

  static final long HIGHEST = 0x3000_0000_0000L;

  /** More than this is not noted: the largest region has as much. */
  public static final long MOST_LACKED = 1L << 40;

  private final int fd;
  private final long address;
  private final long bytes;

  /** What {@link #mostLacked} was when {@link #lacksMore} was last asked. */
  @GuardedBy("this")
  private long seen = -1;

  /**
   * Creates a region of which nothing is mapped yet.
   *
   * @param fd the file's descriptor; the region takes it over
   * @param address the address at which the client maps the start of the file
   * @param bytes the size of the file in the address space
   */
  Region(int fd, long address, long bytes) {
    this.fd = fd;
    this.address = address;
    this.bytes = bytes;
    if ((address & PAGE - 1) != 0 || address < LOWEST || address > HIGHEST - bytes) {
      throw new ProtocolException("the client wants shared memory at an invalid address");
    }
  }

  final int fd() {
    return fd;
  }

  /** Returns the size of the file in the address space. */
  public final long bytes() {
    return bytes;
  }

  /** Returns the address of the region, which is the same at the client. */
  public final long address() {
    return address;
  }

  /** Returns the address of the part that holds the rings. */
  abstract long rings();

  /** Returns how long to poll the rings, with pauses, before waiting for the doorbell. */
  long patienceNanos() {
    return 0;
  }

  /** Maps a chunk that the client chose. Returns its address, 0 if that is not possible. */
  public abstract long map(long offset, long length);

  /** Allocates and maps a chunk. Returns its address, 0 if there is no room. */
  public abstract long take(long length);

  /**
   * Notes that the client has had this much memory at one time for which there was no room here.
   *
   * @return false if the region has room for all that there is memory for
   */
  public boolean lacked(long bytes) {
    return false;
  }

  /**
   * Returns the most that {@link #lacked} was told, at most {@link #MOST_LACKED}; -1 if the region
   * has room for all that there is memory for. Any thread may call this.
   */
  public long mostLacked() {
    return -1;
  }

  /**
   * Whether {@link #mostLacked} has grown since this was last asked; at first, whether it counts.
   */
  public final synchronized boolean lacksMore() {
    long now = mostLacked();
    boolean more = now > seen;
    seen = now;
    return more;
  }

  /** Unmaps a chunk of {@link #map} or {@link #take}. */
  public abstract void unmap(long offset, long length);

  /** Returns whether a range consists of whole pages within the file. */
  final boolean holds(long offset, long length) {
    return offset >= 0
        && length > 0
        && offset <= bytes
        && length <= bytes - offset
        && ((offset | length) & PAGE - 1) == 0;
  }

  /**
   * Maps part of the file at the client's address. Returns the address, 0 if something else is
   * mapped there.
   */
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
      // Kernels before 4.17 do not know MAP_FIXED_NOREPLACE and treat the address as a hint.
      Libc.munmap(got, length);
      return 0;
    }
    return got;
  }

  final void unmapAt(long offset, long length) {
    Libc.munmap(address + offset, length);
  }
}
