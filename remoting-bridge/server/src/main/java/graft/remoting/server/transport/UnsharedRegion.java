package graft.remoting.server.transport;

import graft.remoting.server.system.Libc;
import java.io.IOException;

/**
 * A region that no client shares: the session of the warm-up copies from it and to it, so that the
 * JIT compiler has compiled that code before a client connects.
 */
public final class UnsharedRegion extends Region implements AutoCloseable {
  /** The size of the region, which has a single chunk. */
  public static final long BYTES = PAGE;

  /** Creates the region at the end of the addresses that clients choose from. */
  public UnsharedRegion() throws IOException {
    super(file(), HIGHEST - BYTES, BYTES);
  }

  private static int file() throws IOException {
    int fd = Libc.memfd_create("graft-warm-up", Libc.MFD_CLOEXEC);
    if (fd < 0 || Libc.ftruncate(fd, BYTES) < 0) {
      throw Libc.failure("create memory for the warm-up");
    }
    return fd;
  }

  @Override
  long rings() {
    throw new UnsupportedOperationException("the warm-up has no rings");
  }

  @Override
  public long map(long offset, long length) {
    return holds(offset, length) ? mapAt(offset, length) : 0;
  }

  @Override
  public long take(long length) {
    return 0;
  }

  @Override
  public void unmap(long offset, long length) {
    unmapAt(offset, length);
  }

  /** Unmaps the chunk, if the session has not, and closes the file. */
  @Override
  public void close() {
    unmapAt(0, BYTES);
    Libc.close(fd());
  }
}
