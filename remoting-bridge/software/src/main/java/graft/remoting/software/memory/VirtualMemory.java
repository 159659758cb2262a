package graft.remoting.software.memory;

import com.sun.jna.Library;
import graft.remoting.device.Extent;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Ranges of addresses and physical memory that programs combine themselves (CUDA driver API,
 * "Virtual Memory Management"). Physical memory is an anonymous file, so that it can be mapped at
 * several addresses; a range without a mapping cannot be accessed.
 */
public final class VirtualMemory {
  /** The granularity of sizes and of the addresses of mappings. */
  public static final long GRANULARITY = 2 << 20;

  // <sys/mman.h> on x86-64
  private static final int PROT_NONE = 0;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int MAP_FIXED = 0x10;
  private static final int UNTOUCHED = 0x2 | 0x20 | 0x4000; // PRIVATE, ANONYMOUS, NORESERVE
  private static final int SEEK_END = 2;

  /** The functions of the C library, loaded when a program first uses such memory. */
  interface LibC extends Library {
    LibC INSTANCE = com.sun.jna.Native.load("c", LibC.class);

    int memfd_create(String name, int flags);

    int ftruncate(int file, long bytes);

    int open(String path, int flags);

    int dup(int file);

    long lseek(int file, long offset, int from);

    long pwrite(int file, long address, long bytes, long offset);

    int close(int file);

    long mmap(long address, long bytes, int protection, int flags, int file, long offset);

    int munmap(long address, long bytes);
  }

  /**
   * Memory that can be mapped. It is freed when its creator has released it and nothing maps it.
   */
  public static final class Physical {
    private final int file;
    private final long bytes;
    private int uses = 1;

    private Physical(int file, long bytes) {
      this.file = file;
      this.bytes = bytes;
    }

    public long bytes() {
      return bytes;
    }
  }

  private final DeviceMemory memory;
  private final ConcurrentSkipListMap<Long, Long> reserved = new ConcurrentSkipListMap<>();
  private final ConcurrentSkipListMap<Long, Physical> mapped = new ConcurrentSkipListMap<>();

  VirtualMemory(DeviceMemory memory) {
    this.memory = memory;
  }

  private static boolean isMultiple(long value) {
    return value > 0 && value % GRANULARITY == 0;
  }

  /**
   * Reserves a range of addresses.
   *
   * @return its start, or 0 if the sizes are invalid or the system has no such range
   */
  public synchronized long reserve(long bytes, long alignment) {
    long align = Math.max(alignment, GRANULARITY);
    if (!isMultiple(bytes) || align < 0 || Long.bitCount(align) != 1 || bytes + align < bytes) {
      return 0;
    }
    long at = LibC.INSTANCE.mmap(0, bytes + align, PROT_NONE, UNTOUCHED, -1, 0);
    if (at == -1) {
      return 0;
    }
    long start = (at + align - 1) & -align;
    if (start > at) {
      LibC.INSTANCE.munmap(at, start - at);
    }
    if (at + align > start) {
      LibC.INSTANCE.munmap(start + bytes, at + align - start);
    }
    reserved.put(start, bytes);
    return start;
  }

  /**
   * Ends a reservation. Returns false if there is none of that size, or something is still mapped.
   */
  public synchronized boolean free(long start, long bytes) {
    if (bytes <= 0
        || reserved.getOrDefault(start, 0L) != bytes
        || !mapped.subMap(start, start + bytes).isEmpty()) {
      return false;
    }
    reserved.remove(start);
    LibC.INSTANCE.munmap(start, bytes);
    return true;
  }

  /** Whether an address lies in a reserved range. */
  boolean isReserved(long address) {
    return covering(address, 1) != null;
  }

  private Map.Entry<Long, Long> covering(long address, long bytes) {
    Map.Entry<Long, Long> range = reserved.floorEntry(address);
    return range != null && Extent.fits(address - range.getKey(), bytes, range.getValue())
        ? range
        : null;
  }

  /** Creates memory; null if the size is invalid or the device does not have that much left. */
  public synchronized Physical create(long bytes) {
    if (!isMultiple(bytes) || !memory.take(bytes)) {
      return null;
    }
    SharedFile file = SharedFile.create(bytes);
    if (file == null) {
      memory.give(bytes);
      return null;
    }
    return new Physical(file.descriptor(), bytes);
  }

  /** Adds a use of the memory that is mapped at an address; null if there is none. */
  public synchronized Physical retain(long address) {
    Map.Entry<Long, Physical> found = mapped.floorEntry(address);
    if (found == null || !Extent.fits(address - found.getKey(), 1, found.getValue().bytes)) {
      return null;
    }
    found.getValue().uses++;
    return found.getValue();
  }

  /** Returns a descriptor of memory for another process, which belongs to the caller. */
  public int export(Physical physical) {
    return LibC.INSTANCE.dup(physical.file);
  }

  /**
   * Adopts memory of another process; null if the descriptor is of no such memory, or the device
   * does not have that much left.
   */
  public synchronized Physical adopt(int descriptor) {
    long bytes = LibC.INSTANCE.lseek(descriptor, 0, SEEK_END);
    if (!isMultiple(bytes) || !memory.take(bytes)) {
      return null;
    }
    return new Physical(LibC.INSTANCE.dup(descriptor), bytes);
  }

  /** Ends a use of memory; the last one frees the memory. */
  public synchronized void release(Physical physical) {
    if (--physical.uses == 0) {
      LibC.INSTANCE.close(physical.file);
      memory.give(physical.bytes);
    }
  }

  /**
   * Maps memory at an address. Returns false if the addresses are not reserved, or in use. Nothing
   * may access the mapping yet.
   */
  public synchronized boolean map(long address, Physical physical) {
    if (address % GRANULARITY != 0
        || covering(address, physical.bytes) == null
        || isMapped(address, physical.bytes)) {
      return false;
    }
    long at =
        LibC.INSTANCE.mmap(
            address, physical.bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, physical.file, 0);
    if (at != address) {
      return false;
    }
    physical.uses++;
    mapped.put(address, physical);
    return true;
  }

  private boolean isMapped(long address, long bytes) {
    Map.Entry<Long, Physical> before = mapped.lowerEntry(address + bytes);
    return before != null && before.getKey() + before.getValue().bytes > address;
  }

  /** Whether a range is made of whole mappings. */
  private boolean isWhole(long address, long bytes) {
    long left = bytes;
    for (Physical next = mapped.get(address); left > 0 && next != null; ) {
      left -= next.bytes;
      next = mapped.get(address + bytes - left);
    }
    return bytes > 0 && left == 0;
  }

  /** Unmaps whole mappings. Returns false if the range does not consist of whole mappings. */
  public synchronized boolean unmap(long address, long bytes) {
    if (!allow(address, bytes, false)) {
      return false;
    }
    LibC.INSTANCE.mmap(address, bytes, PROT_NONE, UNTOUCHED | MAP_FIXED, -1, 0);
    Map<Long, Physical> gone = mapped.subMap(address, address + bytes);
    gone.values().forEach(this::release);
    gone.clear();
    return true;
  }

  /**
   * Sets whether kernels and copies may access whole mappings. Returns false if the range does not
   * consist of whole mappings.
   */
  public synchronized boolean allow(long address, long bytes, boolean access) {
    if (!isWhole(address, bytes)) {
      return false;
    }
    mapped
        .subMap(address, address + bytes)
        .forEach(
            (start, physical) -> {
              if (access) {
                memory.addMapping(start, physical.bytes, this);
              } else {
                memory.removeMapping(start);
              }
            });
    return true;
  }

  /** Frees everything. */
  synchronized void close() {
    mapped.values().stream().distinct().forEach(p -> LibC.INSTANCE.close(p.file));
    reserved.forEach(LibC.INSTANCE::munmap);
    mapped.clear();
    reserved.clear();
  }
}
