package graft.remoting.server.session.call;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;

/** Memory that is followed by an inaccessible page: reading beyond a record kills the process. */
final class GuardedRecord implements AutoCloseable {
  private static final long PAGE = 4096;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int MAP_FIXED = 0x10;

  private final long base;
  private final long capacity;

  GuardedRecord(long capacity) {
    this.capacity = capacity + PAGE - 1 & -PAGE;
    this.base =
        Libc.mmap(
            0,
            this.capacity + PAGE,
            Libc.PROT_READ | Libc.PROT_WRITE,
            MAP_PRIVATE_ANONYMOUS,
            -1,
            0);
    if (base == -1) {
      throw new AssertionError("mmap");
    }
    if (Libc.mmap(base + this.capacity, PAGE, 0, MAP_PRIVATE_ANONYMOUS | MAP_FIXED, -1, 0) == -1) {
      throw new AssertionError("mmap of the guard");
    }
  }

  /** Copies a record directly before the guard page and returns its address. */
  long put(byte[] record) {
    long address = base + capacity - record.length;
    Memory.write(address, record, 0, record.length);
    return address;
  }

  @Override
  public void close() {
    Libc.munmap(base, capacity + PAGE);
  }
}
