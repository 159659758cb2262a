package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The memory that a guest shares with this host: a file in {@code /dev/shm} that the hypervisor
 * shows to the guest as BAR 2 of an ivshmem device. All sessions of the guest share it, so that
 * each locks the chunks that it needs ({@link SharedChunks}). The server alone decides which chunks
 * are free; nothing that the guest writes is trusted for that.
 */
final class GuestRegion extends Region {
  /** The length of the mark by which a client checks that it maps the same file. */
  static final int MARK = 16;

  private static final long PATIENCE_NANOS = 3_000_000;
  private static final long WAIT_NANOS = 3_000_000_000L;
  private static final long WAIT_PAUSE_NANOS = 20_000_000;
  private static final long HUGE_PAGE = 2 << 20;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final SharedChunks chunks;
  private final long rings;
  private final Bytes mark;
  private final AtomicLong lacked = new AtomicLong();

  /**
   * Allocates and maps the part for the rings, clears it, and writes the mark to it.
   *
   * @param fd the region takes it over
   * @throws UnfitException if there is no room, or the client's address is in use here
   */
  private GuestRegion(int fd, long address, long bytes) throws UnfitException {
    super(fd, address, bytes);
    this.chunks = new SharedChunks(fd, bytes);
    this.rings = takeRings();
    if (rings == 0) {
      throw new UnfitException(
          "the %d MiB that the guest shares have no room for another session, or no address"
              .formatted(bytes >> 20));
    }
    Memory.fill(rings, RingTransport.POSITIONS, (byte) 0);
    byte[] random = new byte[MARK];
    RANDOM.nextBytes(random);
    Memory.write(rings, random, 0, MARK);
    mark = Bytes.of(random);
  }

  /**
   * Allocates the part for the rings. The session of a program that has just ended keeps its part
   * until its worker has released the device, so that this waits for a while.
   */
  private long takeRings() {
    long deadline = System.nanoTime() + WAIT_NANOS;
    long address = take(CONTROL);
    while (address == 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(WAIT_PAUSE_NANOS);
      address = take(CONTROL);
    }
    return address;
  }

  /** The session cannot have shared memory, and may go on without. */
  static final class UnfitException extends Exception {
    private static final long serialVersionUID = 1;

    UnfitException(String message) {
      super(message);
    }
  }

  /**
   * Joins a guest's region for one session.
   *
   * @param fd the region's file, opened for this session alone; the region takes it over
   * @param address the address at which the client wants the file
   */
  static GuestRegion open(int fd, long address) throws IOException, UnfitException {
    boolean done = false;
    try {
      long bytes = Libc.lseek(fd, 0, Libc.SEEK_END) & -PAGE;
      if (bytes < CONTROL || bytes > ClientRegion.BYTES) {
        throw new UnfitException(
            "the guest's shared memory has "
                + bytes
                + " bytes, too few for a session ("
                + CONTROL
                + ")");
      }
      GuestRegion region = new GuestRegion(fd, address, bytes);
      done = true;
      return region;
    } finally {
      if (!done) {
        Libc.close(fd);
      }
    }
  }

  /** Returns the mark at the start of the rings' part. */
  Bytes mark() {
    return mark;
  }

  /**
   * Returns a longer time than for other regions, because the doorbell goes through the guest's
   * network and may take longer than most calls.
   */
  @Override
  long patienceNanos() {
    return PATIENCE_NANOS;
  }

  @Override
  long rings() {
    return rings;
  }

  /** Always fails: only the server knows which chunks are free. */
  @Override
  public long map(long offset, long length) {
    return 0;
  }

  @Override
  public long take(long length) {
    if (!holds(0, length)) {
      return 0;
    }
    long offset = chunks.take(length, length < HUGE_PAGE ? PAGE : HUGE_PAGE);
    if (offset < 0) {
      return 0;
    }
    long mapped = mapAt(offset, length);
    if (mapped == 0) {
      chunks.give(offset, length);
    } else if (length >= HUGE_PAGE) {
      // Huge pages make the device's transfers faster. If the kernel cannot provide them, small
      // pages are used.
      Libc.madvise(mapped, length, Libc.MADV_COLLAPSE);
    }
    return mapped;
  }

  @Override
  public boolean lacked(long bytes) {
    lacked.accumulateAndGet(Math.min(Math.max(0, bytes), MOST_LACKED), Math::max);
    return true;
  }

  @Override
  public long mostLacked() {
    return lacked.get();
  }

  @Override
  public void unmap(long offset, long length) {
    unmapAt(offset, length);
    chunks.give(offset, length);
  }
}
