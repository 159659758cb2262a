package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.session.memory.MemoryAccount.Kind;
import graft.remoting.server.system.Scratch;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts the device memory that a session allocates, and refuses allocations beyond the session's
 * limit with CUDA_ERROR_OUT_OF_MEMORY. Queries of the device's memory show the limit as its size.
 * The memory that the context itself needs is not counted.
 */
public final class AccountedDevice extends ForwardingDevice {
  private final MemoryAccount account;

  /**
   * How many times each handle of another session is open, since the driver maps its memory once.
   * Only the executor uses this map.
   */
  private final Map<Long, Integer> opened = new HashMap<>();

  /**
   * How many handles and mappings keep each block of physical memory. The driver frees it after the
   * last one.
   */
  @GuardedBy("this")
  private final Map<Long, Integer> holds = new HashMap<>();

  /** The ranges at which physical memory is mapped. */
  @GuardedBy("this")
  private final NavigableMap<Long, Long> mapped = new TreeMap<>(Long::compareUnsigned);

  /** The allocations of cuMemAlloc, which only cuMemFree or the end of their context frees. */
  @GuardedBy("this")
  private final Set<Long> plain = new HashSet<>();

  @GuardedBy("this")
  private boolean plainIsOver;

  /**
   * Creates the accounting of one session.
   *
   * @param limit the limits that the memory counts against
   */
  public AccountedDevice(CudaDevice next, MemoryLimit limit) {
    super(next);
    this.account = new MemoryAccount(next, limit);
  }

  /** Returns the bytes that are allocated. Any thread may call this. */
  public long used() {
    return account.used();
  }

  /** Returns the most bytes that the session has used. */
  public long peak() {
    return account.peak();
  }

  /** Returns whether an allocation of {@code bytes} is within the limit. */
  public boolean hasRoom(long bytes) {
    return account.hasRoom(bytes);
  }

  /** Returns whether {@code bytes} more would be within the limit; no limit counts as reached. */
  public boolean wouldFit(long bytes) {
    return account.wouldFit(bytes);
  }

  /** Counts the memory that a node of a graph allocates at each launch. */
  public int addGraphMemory(long bytes) {
    account.countGraphs();
    return account.hasRoom(bytes) ? CudaResult.SUCCESS : CudaResult.OUT_OF_MEMORY;
  }

  @Override
  public int cuGraphLaunch(long hGraphExec, long hStream) {
    return account.mayLaunchGraph()
        ? next.cuGraphLaunch(hGraphExec, hStream)
        : CudaResult.OUT_OF_MEMORY;
  }

  /** Counts memory of this process that stands for the client's. */
  public void countHost(long bytes) {
    account.countHost(bytes);
  }

  /** Stops counting the memory of a destroyed context, which the driver has freed. */
  public synchronized void forgetContext(long context) {
    account.forgetContext(context);
    plainIsOver |= plain.removeIf(start -> !account.has(Kind.MEMORY, start));
  }

  @Override
  public int cuMemAlloc_v2(long dptr, long bytesize) {
    return plain(
        account.allocate(Kind.MEMORY, bytesize, dptr, () -> next.cuMemAlloc_v2(dptr, bytesize)),
        dptr);
  }

  private synchronized int plain(int code, long dptr) {
    if (code == CudaResult.SUCCESS && dptr != 0 && account.has(Kind.MEMORY, Memory.getLong(dptr))) {
      plain.add(Memory.getLong(dptr));
    }
    return code;
  }

  /**
   * Returns whether an address is the start of an allocation of {@code cuMemAlloc} and all earlier
   * allocations were freed by {@code cuMemFree}. UCX keeps its own record of memory and sees no
   * other way in which memory ends, so that it would take new memory at the same address for the
   * old.
   */
  public synchronized boolean isPlain(long start) {
    return !plainIsOver && plain.contains(start);
  }

  @Override
  public int cuMemAllocAsync(long dptr, long bytesize, long hStream) {
    return account.allocateFromPool(
        bytesize, dptr, () -> next.cuMemAllocAsync(dptr, bytesize, hStream));
  }

  @Override
  public int cuMemAllocFromPoolAsync(long dptr, long bytesize, long pool, long hStream) {
    return account.allocateFromPool(
        bytesize, dptr, () -> next.cuMemAllocFromPoolAsync(dptr, bytesize, pool, hStream));
  }

  @Override
  public synchronized int cuMemAllocPitch_v2(
      long dptr, long pPitch, long width, long height, int elementBytes) {
    // The pitch, and with it the size, is known only after the allocation.
    int code =
        account.allocate(
            Kind.MEMORY,
            ArraySize.product(width, height),
            0,
            () -> next.cuMemAllocPitch_v2(dptr, pPitch, width, height, elementBytes));
    if (code == CudaResult.SUCCESS && dptr != 0 && pPitch != 0) {
      account.count(Kind.MEMORY, Memory.getLong(dptr), Memory.getLong(pPitch) * height);
    }
    return code;
  }

  @Override
  public int cuMemFree_v2(long dptr) {
    return freePlain(dptr, next.cuMemFree_v2(dptr), false);
  }

  @Override
  public int cuMemFreeAsync(long dptr, long hStream) {
    return freePlain(dptr, next.cuMemFreeAsync(dptr, hStream), true);
  }

  private synchronized int freePlain(long dptr, int code, boolean unseen) {
    if (code == CudaResult.SUCCESS && plain.remove(dptr)) {
      plainIsOver |= unseen;
    }
    return account.free(Kind.MEMORY, dptr, code);
  }

  @Override
  public int cuMemCreate(long handle, long size, long prop, long flags) {
    return physical(size, handle, () -> next.cuMemCreate(handle, size, prop, flags));
  }

  private synchronized int physical(long bytes, long handle, MemoryAccount.Allocator allocator) {
    int code = account.allocate(Kind.PHYSICAL, bytes, handle, allocator);
    if (code == CudaResult.SUCCESS && handle != 0) {
      hold(Memory.getLong(handle));
    }
    return code;
  }

  @GuardedBy("this")
  private void hold(long handle) {
    holds.merge(handle, 1, Integer::sum);
  }

  @GuardedBy("this")
  private void drop(long handle) {
    if (isLast(holds, handle)) {
      account.free(Kind.PHYSICAL, handle, CudaResult.SUCCESS);
    }
  }

  /** Decrements a count and returns whether it has become zero. */
  private static boolean isLast(Map<Long, Integer> counts, long handle) {
    return counts.computeIfPresent(handle, (key, count) -> count == 1 ? null : count - 1) == null;
  }

  @Override
  public synchronized int cuMemRelease(long handle) {
    int code = next.cuMemRelease(handle);
    if (code == CudaResult.SUCCESS) {
      drop(handle);
    }
    return code;
  }

  @Override
  public synchronized int cuMemRetainAllocationHandle(long handle, long addr) {
    int code = next.cuMemRetainAllocationHandle(handle, addr);
    if (code == CudaResult.SUCCESS && handle != 0) {
      hold(Memory.getLong(handle));
    }
    return code;
  }

  @Override
  public synchronized int cuMemMap(long ptr, long size, long offset, long handle, long flags) {
    int code = next.cuMemMap(ptr, size, offset, handle, flags);
    if (code == CudaResult.SUCCESS) {
      mapped.put(ptr, handle);
      hold(handle);
    }
    return code;
  }

  @Override
  public synchronized int cuMemUnmap(long ptr, long size) {
    int code = next.cuMemUnmap(ptr, size);
    if (code == CudaResult.SUCCESS) {
      long end = ptr + size;
      boolean wraps =
          Long.compareUnsigned(end, ptr)
              < 0; // possible only with a device that does not check addresses
      Collection<Long> gone = (wraps ? mapped.tailMap(ptr) : mapped.subMap(ptr, end)).values();
      gone.forEach(this::drop);
      gone.clear();
    }
    return code;
  }

  /**
   * Returns the size of memory that {@link #cuMemCreate} created, 0 if it created none with this
   * handle.
   */
  public synchronized long physicalBytes(long handle) {
    return account.bytes(Kind.PHYSICAL, handle);
  }

  /**
   * Opens memory that another session exported. The memory counts in each session that has it open,
   * because the exporting session may free it while others keep it.
   */
  public int openShared(long address, long handle, int flags, long bytes) {
    int code =
        account.allocate(
            Kind.MEMORY, bytes, address, () -> next.cuIpcOpenMemHandle_v2(address, handle, flags));
    if (code == CudaResult.SUCCESS) {
      opened.merge(Memory.getLong(address), 1, Integer::sum);
    }
    return code;
  }

  @Override
  public int cuIpcCloseMemHandle(long address) {
    int code = next.cuIpcCloseMemHandle(address);
    boolean last = code == CudaResult.SUCCESS && isLast(opened, address);
    return last ? account.free(Kind.MEMORY, address, code) : code;
  }

  /**
   * Opens physical memory that another session exported; it counts in each session that has it
   * open.
   */
  public int importShared(long handle, int fd, int type, long bytes) {
    return physical(bytes, handle, () -> next.cuMemImportFromShareableHandle(handle, fd, type));
  }

  /**
   * Opens memory of another session's pool. It counts as in {@link #openShared} and is freed like
   * memory that was allocated here.
   */
  public int importOfPool(long address, long pool, long handle, long bytes) {
    return account.allocate(
        Kind.MEMORY, bytes, address, () -> next.cuMemPoolImportPointer(address, pool, handle));
  }

  @Override
  public int cuArrayCreate_v2(long pHandle, long descriptor) {
    return account.allocate(
        Kind.ARRAY,
        ArraySize.of2d(descriptor),
        pHandle,
        () -> next.cuArrayCreate_v2(pHandle, descriptor));
  }

  @Override
  public int cuArray3DCreate_v2(long pHandle, long descriptor) {
    return account.allocate(
        Kind.ARRAY,
        ArraySize.of3d(descriptor),
        pHandle,
        () -> next.cuArray3DCreate_v2(pHandle, descriptor));
  }

  @Override
  public int cuMipmappedArrayCreate(long pHandle, long descriptor, int levels) {
    return account.allocate(
        Kind.ARRAY,
        ArraySize.ofMipmapped(descriptor, levels),
        pHandle,
        () -> next.cuMipmappedArrayCreate(pHandle, descriptor, levels));
  }

  @Override
  public int cuArrayDestroy(long array) {
    return account.free(Kind.ARRAY, array, next.cuArrayDestroy(array));
  }

  @Override
  public int cuMipmappedArrayDestroy(long array) {
    return account.free(Kind.ARRAY, array, next.cuMipmappedArrayDestroy(array));
  }

  @Override
  public int cuMemGetInfo_v2(long free, long total) {
    if (account.limit() == 0) {
      return next.cuMemGetInfo_v2(free, total);
    }
    try (Scratch real = new Scratch(16)) {
      int code = next.cuMemGetInfo_v2(real.address(), real.address() + 8);
      if (code == CudaResult.SUCCESS) {
        put(free, Math.min(Memory.getLong(real.address()), Math.max(0, account.limit() - used())));
        put(total, Math.min(Memory.getLong(real.address() + 8), account.limit()));
      }
      return code;
    }
  }

  private static void put(long address, long value) {
    if (address != 0) {
      Memory.putLong(address, value);
    }
  }

  @Override
  public int cuDeviceTotalMem_v2(long bytes, int dev) {
    int code = next.cuDeviceTotalMem_v2(bytes, dev);
    if (code == CudaResult.SUCCESS && account.limit() != 0) {
      Memory.putLong(bytes, Math.min(Memory.getLong(bytes), account.limit()));
    }
    return code;
  }
}
