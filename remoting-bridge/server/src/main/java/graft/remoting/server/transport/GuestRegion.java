package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.security.SecureRandom;

/**
 * A guest's own memory on this host: a file in {@code /dev/shm} that its hypervisor shows it as BAR
 * 2 of an ivshmem device. All sessions of the guest share it, so each takes the chunks that it
 * needs ({@link SharedChunks}), and what it says of them comes from here, never from the guest.
 */
final class GuestRegion extends Region {
  /** Bytes that prove to a client that it maps this very file. */
  static final int MARK = 16;

  private static final long PATIENCE_NANOS = 3_000_000;
  private static final long HUGE_PAGE = 2 << 20;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final SharedChunks chunks;
  private final long rings;
  private final Bytes mark;

  /**
   * Takes and maps a part for the rings, empty, and marks it.
   *
   * @param fd the region's from now on
   * @throws UnfitException when there is no room, or the client's address is taken here
   */
  private GuestRegion(int fd, long address, long bytes) throws UnfitException {
    super(fd, address, bytes);
    this.chunks = new SharedChunks(fd, bytes);
    this.rings = take(CONTROL);
    if (rings == 0) {
      throw new UnfitException(
          "the guest's "
              + bytes
              + " bytes of shared memory have no room for another session, or its address is taken");
    }
    Memory.fill(rings, RingTransport.POSITIONS, (byte) 0);
    byte[] random = new byte[MARK];
    RANDOM.nextBytes(random);
    Memory.write(rings, random, 0, MARK);
    mark = Bytes.of(random);
  }

  /** There is no shared memory for a session, which may go on without. */
  static final class UnfitException extends Exception {
    private static final long serialVersionUID = 1;

    UnfitException(String message) {
      super(message);
    }
  }

  /**
   * Takes part in a guest's region for one session.
   *
   * @param fd the region's file, opened for this session alone; this object's from now on
   * @param address where the client wants its begin
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

  /** The mark that was written to the begin of the rings' part. */
  Bytes mark() {
    return mark;
  }

  /** The doorbell goes through the guest's network, which may take longer than most calls. */
  @Override
  long patienceNanos() {
    return PATIENCE_NANOS;
  }

  @Override
  long rings() {
    return rings;
  }

  /** What is free is the server's to say. */
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
      // Huge pages, where the kernel lets us have them, make the device's transfers faster; without
      // them all is well too.
      Libc.madvise(mapped, length, Libc.MADV_COLLAPSE);
    }
    return mapped;
  }

  @Override
  public void unmap(long offset, long length) {
    unmapAt(offset, length);
    chunks.give(offset, length);
  }
}
