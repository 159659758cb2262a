package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/**
 * Pages of this domain that one guest of Xen may map, with a ring each way (layout: {@code
 * client/src/transport/vchan.h}; Linux's {@code include/uapi/xen/gntalloc.h}). They are this
 * side's: a guest that ends, or writes nonsense, takes nothing away from a session of another. They
 * go back when this process has ended and the guest's program has unmapped them, or ended too.
 */
final class GrantedPages {
  static final int RING = 1 << 20;

  /** One of control, and the rings. */
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

  /** New pages, all zero. */
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
                        + " pages more to grant: see /sys/module/xen_gntalloc/parameters/limit,"
                        + " and Xen's gnttab_max_frames")
                : Libc.failure("grant " + COUNT + " pages to domain " + domain);
        Libc.close(fd);
        throw failure;
      }
      return new GrantedPages(
          fd, Memory.getLong(memory + 8), Bytes.of(wanted.bytes(REFERENCES, 4 * COUNT)));
    }
  }

  /** The descriptor that has them, the caller's. */
  int fd() {
    return fd;
  }

  /** Where they begin in it. */
  long offset() {
    return offset;
  }

  /** What the guest maps, 32 bits each. */
  Bytes references() {
    return references;
  }

  /** Maps them. */
  static Rings map(int fd, long offset) throws IOException {
    long mapped =
        Libc.mmap(0, 4096L * COUNT, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, offset);
    if (mapped == -1) {
      throw Libc.failure("map the pages granted to the guest");
    }
    return Rings.granted(mapped);
  }
}
