package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.VirtualMemoryApi;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.VirtualMemory;
import graft.remoting.software.object.Allocations;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Handles;

/** CUDA driver API: "Virtual Memory Management". */
final class VirtualMemoryFunctions implements VirtualMemoryApi {
  private static final int PINNED = 1; // CU_MEM_ALLOCATION_TYPE_PINNED
  private static final int POSIX_FILE_DESCRIPTOR = 1; // CU_MEM_HANDLE_TYPE
  private static final int ON_DEVICE = 1; // CU_MEM_LOCATION_TYPE_DEVICE
  private static final int READ_WRITE = 3; // CU_MEM_ACCESS_FLAGS_PROT_READWRITE

  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;

  VirtualMemoryFunctions(Calls calls, Handles handles, Contexts contexts) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
  }

  /** These calls need no context; here one tells the device, even if its work has failed. */
  private DeviceMemory memory() {
    return contexts.memoryOfAny();
  }

  /** CUmemAllocationProp: type at 0, requested handle types at 4, location at 8 and 12. */
  private void check(long properties) {
    require(properties != 0 && UNSAFE.getInt(properties) == PINNED, "not of type pinned");
    requireThisDevice(properties + 8);
    int handles = UNSAFE.getInt(properties + 4);
    if (handles != 0 && handles != POSIX_FILE_DESCRIPTOR) {
      throw new CudaException(CudaResult.NOT_SUPPORTED, "handles of type " + handles);
    }
  }

  private void requireThisDevice(long location) {
    require(
        UNSAFE.getInt(location) == ON_DEVICE
            && UNSAFE.getInt(location + 4) == contexts.any().gpu().ordinal(),
        "memory of another location than this device");
  }

  @Override
  public int cuMemGetAllocationGranularity(long granularity, long properties, int option) {
    return calls.run(
        () -> {
          check(properties);
          putLong(granularity, VirtualMemory.GRANULARITY);
        });
  }

  @Override
  public int cuMemCreate(long handle, long bytes, long properties, long flags) {
    return calls.run(
        () -> {
          check(properties);
          require(bytes > 0 && bytes % VirtualMemory.GRANULARITY == 0, "not so many granules");
          VirtualMemory.Physical made = memory().virtual().create(bytes);
          if (made == null) {
            throw Allocations.outOfMemory(bytes, memory());
          }
          putLong(handle, handles.add(made));
        });
  }

  @Override
  public int cuMemRelease(long handle) {
    return calls.run(
        () -> {
          VirtualMemory.Physical physical = handles.get(handle, VirtualMemory.Physical.class);
          handles.remove(handle);
          memory().virtual().release(physical);
        });
  }

  @Override
  public int cuMemRetainAllocationHandle(long handle, long address) {
    return calls.run(
        () -> {
          VirtualMemory.Physical found = memory().virtual().retain(address);
          require(found != null, "nothing is mapped there");
          putLong(handle, handles.add(found));
        });
  }

  @Override
  public int cuMemGetAllocationPropertiesFromHandle(long properties, long handle) {
    return calls.run(
        () -> {
          handles.get(handle, VirtualMemory.Physical.class);
          UNSAFE.setMemory(properties, 32, (byte) 0);
          putInt(properties, PINNED);
          putInt(properties + 8, ON_DEVICE);
          putInt(properties + 12, contexts.any().gpu().ordinal());
        });
  }

  @Override
  public int cuMemAddressReserve(long result, long bytes, long alignment, long wanted, long flags) {
    return calls.run(
        () -> {
          require(flags == 0, "unknown flags");
          require(
              bytes > 0 && bytes % VirtualMemory.GRANULARITY == 0 && Long.bitCount(alignment) <= 1,
              "not a whole number of granules, or not a power of two");
          long start = memory().virtual().reserve(bytes, alignment);
          if (start == 0) {
            throw new CudaException(CudaResult.OUT_OF_MEMORY, "no addresses left");
          }
          putLong(result, start);
        });
  }

  @Override
  public int cuMemAddressFree(long address, long bytes) {
    return calls.run(
        () ->
            require(
                memory().virtual().free(address, bytes), "not reserved, or something is mapped"));
  }

  @Override
  public int cuMemMap(long address, long bytes, long offset, long handle, long flags) {
    return calls.run(
        () -> {
          VirtualMemory.Physical physical = handles.get(handle, VirtualMemory.Physical.class);
          require(
              offset == 0 && flags == 0 && bytes == physical.bytes(),
              "only whole allocations can be mapped");
          require(memory().virtual().map(address, physical), "not reserved, or taken");
        });
  }

  @Override
  public int cuMemUnmap(long address, long bytes) {
    return calls.run(
        () -> {
          contexts.await(); // no kernel may still use it
          require(memory().virtual().unmap(address, bytes), "not made of whole mappings");
        });
  }

  /** CUmemAccessDesc, 12 bytes each: location at 0, flags at 8. */
  @Override
  public int cuMemSetAccess(long address, long bytes, long descriptors, long count) {
    return calls.run(
        () -> {
          for (long i = 0; i < count; i++) {
            long descriptor = descriptors + 12 * i;
            requireThisDevice(descriptor);
            int flags = UNSAFE.getInt(descriptor + 8);
            if (flags != 0 && flags != READ_WRITE) {
              throw new CudaException(CudaResult.NOT_SUPPORTED, "memory that can only be read");
            }
            contexts.await();
            require(
                memory().virtual().allow(address, bytes, flags == READ_WRITE),
                "not made of whole mappings");
          }
        });
  }

  @Override
  public int cuMemGetAccess(long flags, long location, long address) {
    return calls.run(
        () -> {
          requireThisDevice(location);
          putLong(flags, memory().find(address) != null ? READ_WRITE : 0);
        });
  }
}
