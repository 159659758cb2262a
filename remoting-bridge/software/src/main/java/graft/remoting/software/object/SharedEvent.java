package graft.remoting.software.object;

import graft.remoting.software.memory.Native;
import graft.remoting.software.memory.SharedFile;
import java.util.concurrent.locks.LockSupport;

/**
 * The state of an event that several processes share: how often it was recorded, and the last
 * recording whose work has finished.
 */
public final class SharedEvent {
  /** The bytes that the state occupies. */
  public static final int BYTES = 16;

  private static final long HAPPENED = 8;
  private static final long PAUSE_NANOS = 20_000;

  private final SharedFile file;
  private final long address;

  /** Creates the object for the state in a file. */
  public SharedEvent(SharedFile file) {
    this.file = file;
    this.address = file.map(0, BYTES);
  }

  public SharedFile file() {
    return file;
  }

  /** Adds a recording and returns its number. */
  public long record() {
    return Native.UNSAFE.getAndAddLong(null, address, 1) + 1;
  }

  /** Returns the number of the last recording, 0 if there was none. */
  public long last() {
    return Native.UNSAFE.getLongVolatile(null, address);
  }

  /** Notes that the work before a recording has finished. */
  public void happened(long number) {
    long before = Native.UNSAFE.getLongVolatile(null, address + HAPPENED);
    while (before < number
        && !Native.UNSAFE.compareAndSwapLong(null, address + HAPPENED, before, number)) {
      before = Native.UNSAFE.getLongVolatile(null, address + HAPPENED);
    }
  }

  public boolean hasHappened(long number) {
    return Native.UNSAFE.getLongVolatile(null, address + HAPPENED) >= number;
  }

  public void await(long number) {
    while (!hasHappened(number)) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
