package graft.remoting.server.session.memory;

import graft.remoting.device.Extent;
import graft.remoting.device.Memory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The shadow mappings of a session, and access to them that does not need the device. Thread-safe:
 * a mapping that was removed is no longer accessed.
 */
public final class ShadowMappings {
  /**
   * The addresses that clients choose from ({@code client/src/memory/shadow.c}); this process has
   * nothing else there.
   */
  private static final long LOWEST = 0x3000_0000_0000L;

  private static final long HIGHEST = 0x4000_0000_0000L;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  /** Returns whether a shadow mapping may lie at a range. */
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

  /** Removes a range. Returns false if there is no such range. */
  public boolean remove(long address, long bytes) {
    lock.writeLock().lock();
    try {
      return ranges.remove(address, bytes);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Copies out of a range. Returns false if the bytes are not all in one range. */
  public boolean read(long address, long to, long bytes) {
    return copy(address, bytes, address, to);
  }

  /** Copies into a range. Returns false if the bytes are not all in one range. */
  public boolean write(long from, long address, long bytes) {
    return copy(address, bytes, from, address);
  }

  /**
   * Writes the bytes of whole words that a mask selects, one bit a byte. The other bytes keep their
   * values, even while the device writes them.
   */
  public boolean merge(long from, long mask, long address, long bytes) {
    return access(address, bytes, () -> MaskedWords.write(from, mask, address, bytes));
  }

  private boolean copy(long address, long bytes, long from, long to) {
    return access(address, bytes, () -> Memory.copy(from, to, bytes));
  }

  /**
   * Accesses memory that cannot be removed meanwhile. Returns false if the bytes are not all in one
   * range.
   */
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
