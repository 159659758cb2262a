package graft.remoting.software.memory;

import graft.remoting.device.Extent;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import sun.misc.Unsafe;

/**
 * One native reservation from which device memory is allocated, so that a device pointer is a real
 * address.
 *
 * <p>For every granule of {@value #GRANULE} bytes, a table holds how many of its bytes, counted
 * from its start, belong to an allocation. Allocations start at granules, and an access is aligned
 * to its own size and so lies in one granule: a check is one look-up, however many allocations
 * there are, and needs no lock. The system commits the reservation and the table page by page when
 * they are first accessed.
 */
public final class DeviceMemory implements AutoCloseable {
  private static final long PAGE = 4096;

  /** The C library gives larger blocks as zero pages, whatever was freed before. */
  private static final long FRESH = 64 << 20;

  private static final Unsafe UNSAFE = Native.UNSAFE;

  /** Alignment of allocations, in bytes. */
  public static final int GRANULE = 512;

  /** {@code log2(GRANULE)}. */
  public static final int GRANULE_SHIFT = 9;

  private final long raw;
  private final long rawTable;
  private final long base;
  private final long granules;
  private final long table;
  private final TreeMap<Long, Long> free = new TreeMap<>();
  private final ConcurrentSkipListMap<Long, Allocation> live = new ConcurrentSkipListMap<>();
  private final ConcurrentSkipListMap<Long, Long> host = new ConcurrentSkipListMap<>();
  private final VirtualMemory virtual = new VirtualMemory(this);
  private long used;

  /** The end of what may have been written. */
  private long given;

  private SharedFile shared;

  /**
   * An allocation.
   *
   * @param address its start
   * @param bytes the requested size
   * @param owner the owner that the caller of {@link #allocate} named
   * @param id a number that no other allocation has had
   */
  public record Allocation(long address, long bytes, Object owner, long id) {}

  private long lastId;

  /**
   * Reserves memory.
   *
   * @param bytes the largest amount that can be allocated
   * @throws OutOfMemoryError if the system does not have that much address space
   */
  public DeviceMemory(long bytes) {
    granules = (bytes + GRANULE - 1) >> GRANULE_SHIFT;
    long size = granules << GRANULE_SHIFT;
    raw = UNSAFE.allocateMemory(size + (2 << 20));
    base = (raw + (2 << 20) - 1) & -(2L << 20);
    long tableBytes = granules * 2 + 16;
    rawTable = UNSAFE.allocateMemory(tableBytes);
    table = rawTable;
    // The system provides large blocks as zero pages; writing zeros would commit them.
    if (tableBytes < 1 << 20) {
      UNSAFE.setMemory(table, tableBytes, (byte) 0);
    }
    given = size > FRESH ? base : base + size;
    free.put(base, size);
  }

  /** First address of the reservation. */
  public long base() {
    return base;
  }

  /** Number of granules. */
  public long granules() {
    return granules;
  }

  /** Address of the table of 16-bit counts of valid bytes. */
  public long table() {
    return table;
  }

  /** Bytes that can be allocated in all. */
  public long capacity() {
    return granules << GRANULE_SHIFT;
  }

  /** Returns the memory that programs map at addresses of their choice. */
  public VirtualMemory virtual() {
    return virtual;
  }

  /**
   * Counts memory outside the reservation. Returns false if the device does not have that much
   * left.
   */
  synchronized boolean take(long bytes) {
    if (bytes > capacity() - used) {
      return false;
    }
    used += bytes;
    return true;
  }

  /** Ends {@link #take}. */
  synchronized void give(long bytes) {
    used -= bytes;
  }

  /** Lets kernels and copies access memory outside the reservation. */
  public synchronized void addMapping(long address, long bytes, Object owner) {
    live.put(address, new Allocation(address, bytes, owner, ++lastId));
  }

  /** Ends {@link #addMapping}. */
  public synchronized void removeMapping(long address) {
    live.remove(address);
  }

  /**
   * Returns the file that holds the whole reservation from the first call on, so that other
   * processes can map it. Nothing may access the memory during that call.
   *
   * @return null if the system does not have that much memory
   */
  public synchronized SharedFile shared() {
    if (shared == null) {
      long bytes = capacity() + PAGE - 1 & -PAGE;
      SharedFile made = SharedFile.create(bytes);
      boolean whole = made != null;
      for (Allocation a : live.values()) {
        whole = whole && (!isOwn(a.address) || made.write(a.address - base, a.address, a.bytes));
      }
      if (whole && made.replace(base, bytes)) {
        shared = made;
      } else if (made != null) {
        made.close();
      }
    }
    return shared;
  }

  private boolean isOwn(long address) {
    return address - base >= 0 && address - base < capacity();
  }

  /** Bytes that are not allocated. */
  public synchronized long available() {
    return capacity() - used;
  }

  /**
   * Allocates memory, which is zero, as a GPU's driver gives it.
   *
   * @return the address, or 0 if there is not enough memory
   */
  public synchronized long allocate(long bytes, Object owner) {
    if (bytes <= 0 || bytes > capacity()) {
      return 0;
    }
    long size = (bytes + GRANULE - 1) & -GRANULE;
    if (size > capacity() - used) {
      return 0;
    }
    for (Map.Entry<Long, Long> hole : free.entrySet()) {
      if (hole.getValue() >= size) {
        long address = hole.getKey();
        long rest = hole.getValue() - size;
        free.remove(address);
        if (rest > 0) {
          free.put(address + size, rest);
        }
        used += size;
        live.put(address, new Allocation(address, bytes, owner, ++lastId));
        mark(address, bytes);
        erase(address, size);
        return address;
      }
    }
    return 0;
  }

  /** Erases what may have been written. */
  private void erase(long address, long size) {
    long end = Math.min(address + size, given);
    if (address < end) {
      UNSAFE.setMemory(address, end - address, (byte) 0);
    }
    given = Math.max(given, address + size);
  }

  /**
   * Frees memory of {@link #allocate} that belongs to an owner.
   *
   * @return false if no allocation of that owner starts at the address
   */
  public synchronized boolean release(long address, Object owner) {
    Allocation found = live.get(address);
    return found != null && found.owner == owner && release(address);
  }

  /**
   * Frees memory of {@link #allocate}. Mappings cannot be freed here: their pages have no counts in
   * the table.
   *
   * @return false if no allocation starts at the address
   */
  public synchronized boolean release(long address) {
    Allocation gone = isOwn(address) ? live.remove(address) : null;
    if (gone == null) {
      return false;
    }
    long size = (gone.bytes + GRANULE - 1) & -GRANULE;
    UNSAFE.setMemory(
        table + (address - base >> GRANULE_SHIFT << 1), size >> GRANULE_SHIFT << 1, (byte) 0);
    used -= size;
    long start = address;
    long length = size;
    Map.Entry<Long, Long> before = free.lowerEntry(address);
    if (before != null && before.getKey() + before.getValue() == address) {
      start = before.getKey();
      length += before.getValue();
      free.remove(start);
    }
    Long after = free.remove(address + size);
    free.put(start, length + (after == null ? 0 : after));
    return true;
  }

  /** Frees everything that belongs to an owner. */
  public synchronized void releaseAll(Object owner) {
    live.values().stream().filter(a -> a.owner == owner).forEach(a -> release(a.address));
  }

  private void mark(long address, long bytes) {
    long entry = table + ((address - base) >> GRANULE_SHIFT << 1);
    long full = bytes >> GRANULE_SHIFT;
    for (long i = 0; i < full; i++) {
      UNSAFE.putShort(entry + (i << 1), (short) GRANULE);
    }
    int rest = (int) (bytes & (GRANULE - 1));
    if (rest > 0) {
      UNSAFE.putShort(entry + (full << 1), (short) rest);
    }
  }

  /** Returns the allocation that contains an address, or null. */
  public Allocation find(long address) {
    Map.Entry<Long, Allocation> entry = live.floorEntry(address);
    if (entry == null || !Extent.fits(address - entry.getKey(), 1, entry.getValue().bytes)) {
      return null;
    }
    return entry.getValue();
  }

  /** Returns whether all bytes of a range belong to one allocation or one range of host memory. */
  public boolean contains(long address, long bytes) {
    Allocation a = find(address);
    if (a == null) {
      return isHost(address, bytes);
    }
    // Adjacent mappings count as one block of memory.
    long left = bytes;
    long offset = address - a.address;
    while (a.owner == virtual && left > a.bytes - offset) {
      left -= a.bytes - offset;
      offset = 0;
      a = live.get(a.address + a.bytes);
      if (a == null || a.owner != virtual) {
        return false;
      }
    }
    return Extent.fits(offset, left, a.bytes);
  }

  /** Returns whether the address lies in the reservation, allocated or not. */
  public boolean isReserved(long address) {
    return isOwn(address) || virtual.isReserved(address);
  }

  /** Lets kernels access host memory: pinned by cuMemHostAlloc or cuMemHostRegister. */
  public void addHost(long address, long bytes) {
    host.put(address, bytes);
  }

  /** Ends {@link #addHost}. */
  public boolean removeHost(long address) {
    return host.remove(address) != null;
  }

  /** Returns the start of the host range that contains an address, or 0. */
  public long hostStart(long address) {
    Map.Entry<Long, Long> entry = host.floorEntry(address);
    return entry != null && Extent.fits(address - entry.getKey(), 1, entry.getValue())
        ? entry.getKey()
        : 0;
  }

  /** The size of the host range that starts at an address. */
  public long hostBytes(long start) {
    return host.getOrDefault(start, 0L);
  }

  /** Whether kernels may access a range of host memory. */
  public boolean isHost(long address, long bytes) {
    Map.Entry<Long, Long> entry = host.floorEntry(address);
    return entry != null && Extent.fits(address - entry.getKey(), bytes, entry.getValue());
  }

  /** Releases the reservation; its addresses must not be used any more. */
  @Override
  public void close() {
    virtual.close();
    UNSAFE.freeMemory(raw);
    if (shared != null) {
      shared.close();
    }
    UNSAFE.freeMemory(rawTable);
  }
}
