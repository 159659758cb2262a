package graft.remoting.server.transport;

import graft.remoting.server.system.Libc;
import java.io.IOException;

/**
 * Pages of this domain that one Xen guest may map, with one ring in each direction (layout: {@code
 * client/src/transport/vchan.h}). Because the pages belong to this domain, a guest that ends or
 * writes invalid positions cannot affect another guest's session. The kernel frees them when this
 * process has ended and the guest has unmapped them.
 */
final class GrantedPages {
  static final int RING = 1 << 20;

  /** The number of pages: one for control, and the rings. */
  static final int COUNT = 1 + 2 * RING / 4096;

  private GrantedPages() {}

  /** Maps the pages. */
  static Rings map(int fd, long offset) throws IOException {
    long mapped =
        Libc.mmap(0, 4096L * COUNT, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, offset);
    if (mapped == -1) {
      throw Libc.failure("map the pages granted to the guest");
    }
    return Rings.granted(mapped);
  }
}
