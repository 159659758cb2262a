package graft.remoting.server.session.code;

import graft.remoting.device.Memory;

/**
 * Several fat binaries that the driver is to link, as nvcc {@code -rdc=true} produces them. The
 * driver expects {@code __fatBinC_Wrapper_t} of version 2 (fatbinary_section.h), which points to
 * the linked binary and to the others.
 *
 * <p>On the wire: u32 magic, u32 count, u64 sizes, then each binary padded to 8 bytes.
 */
final class FatbinWrapper implements AutoCloseable {
  static final int MAGIC = 0x466243B1;

  private static final int MOST = 4096;
  private static final int VERSION = 2;
  private static final int WRAPPER = 24;

  private final long address;

  private FatbinWrapper(long address) {
    this.address = address;
  }

  /**
   * Reads a client's fat binaries; null if the data is malformed. The result points into {@code
   * data}.
   */
  static FatbinWrapper read(long data, long bytes) {
    int count = Memory.getInt(data + 4);
    long at = 8 + 8L * count;
    if (count < 1 || count > MOST || at > bytes) {
      return null;
    }
    long wrapper = Memory.allocate(WRAPPER + 8L * count);
    Memory.putInt(wrapper, MAGIC);
    Memory.putInt(wrapper + 4, VERSION);
    Memory.putLong(wrapper + 16, wrapper + WRAPPER);
    for (int i = 0; i < count; i++) {
      long size = Memory.getLong(data + 8 + 8L * i);
      if (size < 16 || size > bytes - at) {
        Memory.free(wrapper);
        return null;
      }
      // The first binary is the one that is already linked.
      Memory.putLong(i == 0 ? wrapper + 8 : wrapper + WRAPPER + 8L * (i - 1), data + at);
      at += size + 7 & ~7L;
    }
    Memory.putLong(wrapper + WRAPPER + 8L * (count - 1), 0);
    return new FatbinWrapper(wrapper);
  }

  /** Returns the address of the driver's structure. */
  long address() {
    return address;
  }

  @Override
  public void close() {
    Memory.free(address);
  }
}
