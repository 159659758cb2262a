package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/**
 * Pages of this domain that one Xen guest may map, with one ring in each direction (layout: {@code
 * client/src/transport/vchan.h}; Linux's {@code include/uapi/xen/gntalloc.h}). Because the pages
 * belong to this domain, a guest that ends or writes invalid positions cannot affect another
 * guest's session. The kernel frees them when this process has ended and the guest has unmapped
 * them.
 */
final class GrantedPages {
  static final int RING = 1 << 20;

  /** The number of pages: one for control, and the rings. */
  static final int COUNT = 1 + 2 * RING / 4096;

  private static final String DEVICE = "/dev/xen/gntalloc";
  private static final long ALLOC_GREF = 0x184705;
  private static final int WRITABLE = 1;
  private static final int REFERENCES = 16;
  private static final int ENOSPC = 28;

  private final int fd;
  private final long offset;
  private final Bytes references;

  private GrantedPages(int fd, long offset, Bytes references) {
    this.fd = fd;
    this.offset = offset;
    this.references = references;
  }

  /** Allocates zeroed pages and grants them to a domain. */
  static GrantedPages share(int domain) throws IOException {
    int fd = Libc.openDevice(DEVICE);
    try (Scratch wanted = new Scratch(REFERENCES + 4L * COUNT)) {
      long memory = wanted.address();
      Memory.putShort(memory, (short) domain);
      Memory.putShort(memory + 2, (short) WRITABLE);
      Memory.putInt(memory + 4, COUNT);
      if (Libc.ioctl(fd, ALLOC_GREF, memory) < 0) {
        IOException failure =
            Native.getLastError() == ENOSPC
                ? new IOException(
                    "no "
                        + COUNT
                        + " more pages to grant: see /sys/module/xen_gntalloc/parameters/limit,"
                        + " and Xen's gnttab_max_frames")
                : Libc.failure("grant " + COUNT + " pages to domain " + domain);
        Libc.close(fd);
        throw failure;
      }
      return new GrantedPages(
          fd, Memory.getLong(memory + 8), Bytes.of(wanted.bytes(REFERENCES, 4 * COUNT)));
    }
  }

  /** Returns the descriptor of the pages, which belongs to the caller. */
  int fd() {
    return fd;
  }

  /** Returns the offset of the pages in the descriptor. */
  long offset() {
    return offset;
  }

  /** Returns the grant references that the guest maps, 32 bits each. */
  Bytes references() {
    return references;
  }

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
