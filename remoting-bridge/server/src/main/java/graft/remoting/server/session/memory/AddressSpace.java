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
 * The addresses that a session's records may name. A guest is hostile, and an address means the
 * same to it, to this process and, with heterogeneous memory management, to the GPU: one that is
 * not the session's own could be the worker's heap. {@link TrackedDevice} fills it; the generated
 * dispatcher asks it about every address of a record. Thread-safe.
 */
public final class AddressSpace {
  /** What lies at an address. */
  public enum Kind {
    /** Memory that the device allocated, or that another session gave. */
    DEVICE,
    /** Physical memory at an address of the session's choice; neighbours are one chunk. */
    MAPPED,
    /**
     * Memory of this process that stands for the client's: a chunk of the region, or a shadow
     * mapping.
     */
    HOST
  }

  // CUpointer_attribute and CUmemorytype.
  private static final int MEMORY_TYPE = 2;
  private static final int RANGE_START = 11;
  private static final int RANGE_SIZE = 12;
  private static final int TYPE_DEVICE = 2;

  /**
   * A range.
   *
   * @param owner the module or library that it goes with, 0 for none
   * @param context the context that it goes with, 0 for none
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

  /** The range that was asked for last: programs use the same one again and again. */
  @GuardedBy("this")
  private Range last = new Range(0, 0, Kind.DEVICE, 0, 0);

  /**
   * An empty one.
   *
   * @param driver knows memory that no call gave: a variable whose address a kernel told
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

  /** What starts there is no more. */
  synchronized void remove(long start) {
    forget();
    memory.remove(start);
  }

  /** What was mapped in a range is no more. */
  synchronized void unmap(long start, long bytes) {
    removeAll(range -> range.kind() == Kind.MAPPED && Extent.fits(range.start() - start, 1, bytes));
  }

  /** All that fits a description is no more. */
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
   * Whether all of it is memory of the session, the device's or what stands for the client's.
   *
   * @param bytes how many; none lie anywhere
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

  /** Whether all of it is of one allocation of the device that the driver alone knows. */
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

  /** Whether all of it is memory of this process that stands for the client's. */
  public synchronized boolean holdsHost(long address, long bytes) {
    Range range = address > 0 ? rangeOf(address) : null;
    return range != null && range.kind() == Kind.HOST && range.holds(address, bytes);
  }

  /** Whether an allocation of the session starts there; that of no memory is at 0. */
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

  /** Whether all of it lies in one range of addresses that the session has reserved. */
  public synchronized boolean holdsReserved(long address, long bytes) {
    Map.Entry<Long, Long> range = address > 0 ? reserved.floorEntry(address) : null;
    return range != null && Extent.fits(address - range.getKey(), bytes, range.getValue());
  }
}
