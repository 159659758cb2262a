package graft.remoting.software.driver;

import graft.remoting.software.memory.Native;
import graft.remoting.software.memory.SharedFile;
import java.util.concurrent.locks.LockSupport;

/**
 * What the processes that use an event together know of it: how often it was recorded, and which
 * recording has happened.
 */
final class SharedEvent {
  /** Bytes of memory that it takes. */
  static final int BYTES = 16;

  private static final long HAPPENED = 8;
  private static final long PAUSE_NANOS = 20_000;

  private final SharedFile file;
  private final long address;

  /** The event that lies in a file. */
  SharedEvent(SharedFile file) {
    this.file = file;
    this.address = file.map(0, BYTES);
  }

  SharedFile file() {
    return file;
  }

  /** The number of one more recording. */
  long record() {
    return Native.UNSAFE.getAndAddLong(null, address, 1) + 1;
  }

  /** The number of the last recording, 0 if there was none. */
  long last() {
    return Native.UNSAFE.getLongVolatile(null, address);
  }

  /** A recording has happened. */
  void happened(long number) {
    long before = Native.UNSAFE.getLongVolatile(null, address + HAPPENED);
    while (before < number
        && !Native.UNSAFE.compareAndSwapLong(null, address + HAPPENED, before, number)) {
      before = Native.UNSAFE.getLongVolatile(null, address + HAPPENED);
    }
  }

  boolean hasHappened(long number) {
    return Native.UNSAFE.getLongVolatile(null, address + HAPPENED) >= number;
  }

  void await(long number) {
    while (!hasHappened(number)) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
