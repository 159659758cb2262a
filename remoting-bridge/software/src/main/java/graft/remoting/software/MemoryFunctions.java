package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;
import static graft.remoting.software.object.Contexts.checkError;

import graft.remoting.device.CudaResult;
import graft.remoting.device.MemoryApi;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.object.Allocations;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.OpenedMemory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** CUDA driver API: "Memory Management", "Unified Addressing". */
final class MemoryFunctions implements MemoryApi {
  private static final int PITCH_ALIGNMENT = 512;

  private static final int TYPE_HOST = 1;
  private static final int TYPE_DEVICE = 2;

  private final Calls calls;
  private final Contexts contexts;
  private final Ranges ranges;
  private final OpenedMemory openedMemory;
  private final Map<Long, Long> hostAllocations = new ConcurrentHashMap<>();
  private final Map<Long, Integer> hostFlags = new ConcurrentHashMap<>();

  MemoryFunctions(Calls calls, Contexts contexts, Ranges ranges, OpenedMemory openedMemory) {
    this.calls = calls;
    this.contexts = contexts;
    this.ranges = ranges;
    this.openedMemory = openedMemory;
  }

  @Override
  public int cuMemAlloc_v2(long result, long bytes) {
    return calls.run(() -> putLong(result, Allocations.allocate(contexts.current(), bytes)));
  }

  @Override
  public int cuMemAllocPitch_v2(
      long result, long pitch, long width, long height, int elementBytes) {
    return calls.run(
        () -> {
          require(width > 0 && height > 0, "allocation of no bytes");
          long rowBytes = (width + PITCH_ALIGNMENT - 1) & -PITCH_ALIGNMENT;
          putLong(result, Allocations.allocate(contexts.current(), rowBytes * height));
          putLong(pitch, rowBytes);
        });
  }

  @Override
  public int cuMemFree_v2(long address) {
    return calls.run(
        () -> {
          if (address == 0) {
            return;
          }
          if (openedMemory.isOpened(address)) {
            openedMemory.close(address);
            return;
          }
          Context context = contexts.current();
          DeviceMemory memory = ranges.memoryOf(address);
          context.awaitAll(); // no kernel may still use it
          checkError(context);
          DeviceMemory.Allocation found = memory.find(address);
          if (found != null && found.owner() instanceof Context owner) {
            owner.awaitAll();
          }
          Allocations.free(memory, address);
        });
  }

  @Override
  public int cuMemGetInfo_v2(long free, long total) {
    return calls.run(
        () -> {
          putLong(free, contexts.memory().available());
          putLong(total, contexts.current().gpu().memoryBytes());
        });
  }

  @Override
  public int cuMemGetAddressRange_v2(long base, long size, long address) {
    return calls.run(
        () -> {
          DeviceMemory.Allocation found = contexts.memory().find(address);
          if (found == null) {
            throw new CudaException(CudaResult.NOT_FOUND, "no allocation holds that address");
          }
          if (base != 0) {
            putLong(base, found.address());
          }
          if (size != 0) {
            putLong(size, found.bytes());
          }
        });
  }

  @Override
  public int cuMemHostAlloc(long result, long bytes, int flags) {
    return calls.run(
        () -> {
          require(bytes > 0, "allocation of no bytes");
          DeviceMemory memory = contexts.memory();
          long address = UNSAFE.allocateMemory(bytes + 4096);
          long aligned = (address + 4095) & -4096L;
          hostAllocations.put(aligned, address);
          hostFlags.put(aligned, flags);
          memory.addHost(aligned, bytes);
          putLong(result, aligned);
        });
  }

  @Override
  public int cuMemAllocHost_v2(long result, long bytes) {
    return cuMemHostAlloc(result, bytes, 0);
  }

  @Override
  public int cuMemFreeHost(long address) {
    return calls.run(
        () -> {
          Context context = contexts.current();
          Long raw = hostAllocations.remove(address);
          require(raw != null, "not allocated by cuMemHostAlloc");
          context.awaitAll();
          hostFlags.remove(address);
          context.gpu().memory().removeHost(address);
          UNSAFE.freeMemory(raw);
        });
  }

  @Override
  public int cuMemHostRegister_v2(long address, long bytes, int flags) {
    return calls.run(
        () -> {
          require(address != 0 && bytes > 0, "no memory to register");
          if (contexts.memory().hostStart(address) != 0) {
            throw new CudaException(
                CudaResult.HOST_MEMORY_ALREADY_REGISTERED, "already registered");
          }
          hostFlags.put(address, flags);
          contexts.memory().addHost(address, bytes);
        });
  }

  @Override
  public int cuMemHostUnregister(long address) {
    return calls.run(
        () -> {
          Context context = contexts.current();
          context.awaitAll();
          hostFlags.remove(address);
          if (hostAllocations.containsKey(address) || !context.gpu().memory().removeHost(address)) {
            throw new CudaException(CudaResult.HOST_MEMORY_NOT_REGISTERED, "not registered");
          }
        });
  }

  @Override
  public int cuMemHostGetDevicePointer_v2(long result, long address, int flags) {
    return calls.run(
        () -> {
          require(contexts.memory().hostStart(address) != 0, "not pinned");
          putLong(result, address);
        });
  }

  @Override
  public int cuMemHostGetFlags(long flags, long address) {
    return calls.run(
        () -> {
          Integer found = hostFlags.get(contexts.memory().hostStart(address));
          require(found != null, "not pinned");
          putInt(flags, found);
        });
  }

  /** CUpointer_attribute; false if the attribute does not apply to the pointer. */
  private boolean pointerAttribute(long data, int attribute, long pointer) {
    Context context = contexts.current();
    DeviceMemory memory = context.gpu().memory();
    DeviceMemory.Allocation device = Allocations.find(memory, pointer);
    long host = device == null ? memory.hostStart(pointer) : 0;
    boolean known = device != null || host != 0;
    long start = device != null ? device.address() : host;
    switch (attribute) {
      case 1 -> putLong(data, known ? context.handle() : 0);
      case 2 -> putInt(data, device != null ? TYPE_DEVICE : host != 0 ? TYPE_HOST : 0);
      case 3 -> putLong(data, known ? pointer : 0);
      case 4 -> putLong(data, host != 0 ? pointer : 0);
      case 6 -> putInt(data, 0);
      case 7 -> putLong(data, device != null ? device.id() : host);
      case 8 -> putInt(data, 0); // managed
      case 9 -> putInt(data, known ? context.gpu().ordinal() : -2);
      case 10 -> putInt(data, 0);
      case 11 -> putLong(data, start);
      case 12 -> putLong(data, device != null ? device.bytes() : memory.hostBytes(start));
      case 13 -> putInt(data, known ? 1 : 0);
      case 14 -> putInt(data, 0);
      case 15 -> putInt(data, 3);
      case 16 -> putInt(data, 0);
      case 17 -> putLong(data, 0);
      default ->
          throw new CudaException(CudaResult.INVALID_VALUE, "pointer attribute " + attribute);
    }
    return known;
  }

  @Override
  public int cuPointerGetAttribute(long data, int attribute, long pointer) {
    return calls.run(
        () -> require(pointerAttribute(data, attribute, pointer), "pointer unknown to CUDA"));
  }

  @Override
  public int cuPointerGetAttributes(int count, long attributes, long data, long pointer) {
    return calls.run(
        () -> {
          for (int i = 0; i < count; i++) {
            pointerAttribute(
                UNSAFE.getLong(data + 8L * i), UNSAFE.getInt(attributes + 4L * i), pointer);
          }
        });
  }

  @Override
  public int cuPointerSetAttribute(long value, int attribute, long pointer) {
    return calls.run(() -> require(attribute == 6, "only SYNC_MEMOPS can be set"));
  }
}
