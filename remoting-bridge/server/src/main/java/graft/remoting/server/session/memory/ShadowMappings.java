package graft.remoting.server.session.memory;

import graft.remoting.device.Extent;
import graft.remoting.device.Memory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Where memory of this process lies that the client has a shadow mapping of, and access to it that
 * needs no device. Thread-safe: what is no longer there is not touched.
 */
public final class ShadowMappings {
  /**
   * Where clients want them ({@code client/src/memory/shadow.c}); this process has nothing else
   * there.
   */
  private static final long LOWEST = 0x3000_0000_0000L;

  private static final long HIGHEST = 0x4000_0000_0000L;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  /** Whether a range may come to lie there. */
  public static boolean mayLie(long address, long bytes) {
    return bytes > 0 && Extent.fits(address - LOWEST, bytes, HIGHEST - LOWEST);
  }

  public void add(long address, long bytes) {
    lock.writeLock().lock();
    try {
      ranges.put(address, bytes);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Forgets a range; false if it is none. */
  public boolean remove(long address, long bytes) {
    lock.writeLock().lock();
    try {
      return ranges.remove(address, bytes);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Copies out of a range; false if it is not all in one. */
  public boolean read(long address, long to, long bytes) {
    return copy(address, bytes, address, to);
  }

  /** Copies into a range; false if it is not all in one. */
  public boolean write(long from, long address, long bytes) {
    return copy(address, bytes, from, address);
  }

  /**
   * Writes those bytes of whole words that a mask marks, one bit a byte, and leaves the others as
   * they are, also where the device writes them at this time.
   */
  public boolean merge(long from, long mask, long address, long bytes) {
    return access(address, bytes, () -> MaskedWords.write(from, mask, address, bytes));
  }

  private boolean copy(long address, long bytes, long from, long to) {
    return access(address, bytes, () -> Memory.copy(from, to, bytes));
  }

  /** Does something with memory that cannot go meanwhile; false if it is not all in one range. */
  private boolean access(long address, long bytes, Runnable action) {
    lock.readLock().lock();
    try {
      Map.Entry<Long, Long> range = ranges.floorEntry(address);
      if (range == null || bytes < 0) {
        return false;
      }
      long offset = address - range.getKey();
      if (offset > range.getValue() || bytes > range.getValue() - offset) {
        return false;
      }
      action.run();
      return true;
    } finally {
      lock.readLock().unlock();
    }
  }
}
