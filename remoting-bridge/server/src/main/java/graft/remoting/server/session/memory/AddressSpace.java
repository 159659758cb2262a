package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Extent;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The addresses that a session's records may name. The guest is not trusted, and an address means
 * the same to the guest, to this process and, with heterogeneous memory management, to the GPU: an
 * address that is not the session's own could be the worker's heap. {@link TrackedDevice} enters
 * the ranges, and the generated dispatcher checks every address of a record against them.
 * Thread-safe.
 */
public final class AddressSpace {
  /** The kind of memory at an address. */
  public enum Kind {
    /** Memory that the device allocated, or that another session exported. */
    DEVICE,
    /**
     * Physical memory that the session mapped at an address of its choice; adjacent mappings count
     * as one range.
     */
    MAPPED,
    /**
     * Memory of this process that stands for the client's: a chunk of the shared region, or a
     * shadow mapping.
     */
    HOST
  }

  // CUpointer_attribute and CUmemorytype.
  private static final int MEMORY_TYPE = 2;
  private static final int RANGE_START = 11;
  private static final int RANGE_SIZE = 12;
  private static final int TYPE_DEVICE = 2;

  /**
   * A range of memory.
   *
   * @param owner the module or library whose end also ends the range, 0 for none
   * @param context the context whose end also ends the range, 0 for none
   */
  public record Range(long start, long bytes, Kind kind, long owner, long context) {
    public boolean holds(long address, long size) {
      return Extent.fits(address - start, size, bytes);
    }
  }

  private final CudaDevice driver;

  @GuardedBy("this")
  private final TreeMap<Long, Range> memory = new TreeMap<>();

  @GuardedBy("this")
  private final TreeMap<Long, Long> reserved = new TreeMap<>();

  /** The range that was found last, kept because programs use the same memory again and again. */
  @GuardedBy("this")
  private Range last = new Range(0, 0, Kind.DEVICE, 0, 0);

  /**
   * Creates an empty address space.
   *
   * @param driver answers for memory that no call of the client returned: a variable whose address
   *     a kernel stored
   */
  AddressSpace(CudaDevice driver) {
    this.driver = driver;
  }

  public synchronized void add(Range range) {
    if (range.start() > 0 && range.bytes() > 0) {
      forget();
      memory.put(range.start(), range);
    }
  }

  /** Removes the range that starts at an address. */
  synchronized void remove(long start) {
    forget();
    memory.remove(start);
  }

  /** Removes the range that starts at an address, unless it has that owner. */
  synchronized void removeUnless(long start, long owner) {
    Range range = memory.get(start);
    if (range != null && range.owner() != owner) {
      remove(start);
    }
  }

  /** Removes the mappings within a range. */
  synchronized void unmap(long start, long bytes) {
    removeAll(range -> range.kind() == Kind.MAPPED && Extent.fits(range.start() - start, 1, bytes));
  }

  /** Removes all ranges that fit a predicate. */
  synchronized void removeAll(Predicate<Range> gone) {
    forget();
    memory.values().removeIf(gone);
  }

  @GuardedBy("this")
  private void forget() {
    last = new Range(0, 0, Kind.DEVICE, 0, 0);
  }

  synchronized void reserve(long start, long bytes) {
    reserved.put(start, bytes);
  }

  synchronized void release(long start) {
    reserved.remove(start);
  }

  /**
   * Returns whether the whole range is memory of the session: the device's, or host memory that
   * stands for the client's.
   *
   * @param bytes the length; an empty range always counts
   */
  public boolean holds(long address, long bytes) {
    if (bytes <= 0 || address <= 0) {
      return bytes == 0;
    }
    return finds(address, bytes) || asks(address, bytes);
  }

  private synchronized boolean finds(long address, long bytes) {
    if (last.holds(address, bytes)) {
      return true;
    }
    Range range = rangeOf(address);
    if (range == null) {
      return false;
    }
    long left = bytes;
    long offset = address - range.start();
    while (range.kind() == Kind.MAPPED && left > range.bytes() - offset) {
      left -= range.bytes() - offset;
      offset = 0;
      range = memory.get(range.start() + range.bytes());
      if (range == null || range.kind() != Kind.MAPPED) {
        return false;
      }
    }
    last = range;
    return Extent.fits(offset, left, range.bytes());
  }

  @GuardedBy("this")
  private Range rangeOf(long address) {
    Map.Entry<Long, Range> found = memory.floorEntry(address);
    return found != null && found.getValue().holds(address, 1) ? found.getValue() : null;
  }

  /** Returns whether the whole range lies in one allocation that only the driver knows. */
  private boolean asks(long address, long bytes) {
    try (Scratch answer = new Scratch(24)) {
      long at = answer.address();
      return isDeviceMemory(address, at)
          && driver.cuPointerGetAttribute(at + 8, RANGE_START, address) == CudaResult.SUCCESS
          && driver.cuPointerGetAttribute(at + 16, RANGE_SIZE, address) == CudaResult.SUCCESS
          && Extent.fits(address - Memory.getLong(at + 8), bytes, Memory.getLong(at + 16));
    }
  }

  private boolean isDeviceMemory(long address, long scratch) {
    return driver.cuPointerGetAttribute(scratch, MEMORY_TYPE, address) == CudaResult.SUCCESS
        && Memory.getInt(scratch) == TYPE_DEVICE;
  }

  /** Returns whether the whole range is memory of this process that stands for the client's. */
  public synchronized boolean holdsHost(long address, long bytes) {
    Range range = address > 0 ? rangeOf(address) : null;
    return range != null && range.kind() == Kind.HOST && range.holds(address, bytes);
  }

  /**
   * Returns whether an allocation of the session starts at an address. An allocation of no bytes
   * starts at 0.
   */
  public boolean starts(long address) {
    if (address <= 0) {
      return address == 0;
    }
    return startsKnown(address) || startsUnknown(address);
  }

  private synchronized boolean startsKnown(long address) {
    Range range = memory.get(address);
    return range != null && range.kind() == Kind.DEVICE;
  }

  private boolean startsUnknown(long address) {
    try (Scratch answer = new Scratch(16)) {
      long at = answer.address();
      return isDeviceMemory(address, at)
          && driver.cuPointerGetAttribute(at + 8, RANGE_START, address) == CudaResult.SUCCESS
          && Memory.getLong(at + 8) == address;
    }
  }

  /**
   * Returns whether the whole range lies in one range of addresses that the session has reserved.
   */
  public synchronized boolean holdsReserved(long address, long bytes) {
    Map.Entry<Long, Long> range = address > 0 ? reserved.floorEntry(address) : null;
    return range != null && Extent.fits(address - range.getKey(), bytes, range.getValue());
  }
}
