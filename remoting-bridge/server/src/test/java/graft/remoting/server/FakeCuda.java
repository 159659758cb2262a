package graft.remoting.server;

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A driver whose device memory is memory of this process. Each stream runs in order in the
 * background, so that waits are real. Kernels: {@code store(u64 address, u32 value)} writes the
 * value; {@code block(u64 address)} blocks its stream until the u32 at the address is not 0.
 */
public final class FakeCuda implements CudaDevice {
  static final long TOTAL = 1L << 30;

  /** A CUfunction_attribute that this driver refuses. */
  static final int REFUSED_ATTRIBUTE = 5;

  private static final String NAME = "Fake GPU";
  private static final long STORE = 0x5001;
  private static final long BLOCK = 0x5002;

  private final AtomicLong handles = new AtomicLong(0x1000);
  private final Map<Long, CompletableFuture<Void>> streams = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<Void>> events = new ConcurrentHashMap<>();
  private final NavigableMap<Long, Long> memory = new TreeMap<>(); // addresses and sizes
  private final ThreadLocal<Long> current = ThreadLocal.withInitial(() -> 0L);
  private int retained;

  public FakeCuda() {
    streams.put(0L, CompletableFuture.completedFuture(null));
  }

  private int give(long address) {
    Memory.putLong(address, handles.incrementAndGet());
    return CudaResult.SUCCESS;
  }

  private int queue(long stream, Runnable work) {
    if (current.get() == 0) {
      return CudaResult.INVALID_CONTEXT;
    }
    return streams.computeIfPresent(stream, (key, last) -> last.thenRunAsync(work)) == null
        ? CudaResult.INVALID_HANDLE
        : CudaResult.SUCCESS;
  }

  private static int query(CompletableFuture<Void> work) {
    if (work == null) {
      return CudaResult.INVALID_HANDLE;
    }
    return work.isDone() ? CudaResult.SUCCESS : CudaResult.NOT_READY;
  }

  private static int await(CompletableFuture<Void> work) {
    if (work != null) {
      work.join();
    }
    return query(work);
  }

  @Override
  public int cuInit(int flags) {
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDriverGetVersion(long version) {
    Memory.putInt(version, 13000);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDeviceGetCount(long count) {
    Memory.putInt(count, 1);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDeviceGet(long device, int ordinal) {
    Memory.putInt(device, ordinal);
    return ordinal == 0 ? CudaResult.SUCCESS : CudaResult.INVALID_DEVICE;
  }

  @Override
  public int cuDeviceGetName(long name, int length, int device) {
    byte[] bytes = (NAME + "\0").getBytes(StandardCharsets.US_ASCII);
    Memory.write(name, bytes, 0, bytes.length);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDeviceGetUuid_v2(long uuid, int device) {
    Memory.fill(uuid, 16, (byte) 0xAB);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDeviceTotalMem_v2(long bytes, int device) {
    Memory.putLong(bytes, TOTAL);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDeviceGetAttribute(long value, int attribute, int device) {
    Memory.putInt(value, 1000 + attribute);
    return attribute <= 100 ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
  }

  @Override
  public int cuCtxGetStreamPriorityRange(long least, long greatest) {
    Memory.putInt(least, 0);
    Memory.putInt(greatest, -5);
    return current.get() == 0 ? CudaResult.INVALID_CONTEXT : CudaResult.SUCCESS;
  }

  @Override
  public int cuDevicePrimaryCtxRetain(long context, int device) {
    retained++;
    Memory.putLong(context, 0xC0);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDevicePrimaryCtxRelease_v2(int device) {
    return retained-- > 0 ? CudaResult.SUCCESS : CudaResult.INVALID_CONTEXT;
  }

  @Override
  public int cuDevicePrimaryCtxGetState(int device, long flags, long active) {
    Memory.putInt(flags, 0);
    Memory.putInt(active, retained);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuCtxSetCurrent(long context) {
    current.set(context);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuCtxGetCurrent(long context) {
    Memory.putLong(context, current.get());
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuCtxPushCurrent_v2(long context) {
    current.set(context);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuCtxPopCurrent_v2(long context) {
    Memory.putLong(context, current.get());
    current.set(0L);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuCtxSynchronize() {
    streams.values().forEach(FakeCuda::await);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemAlloc_v2(long pointer, long bytes) {
    if (current.get() == 0) {
      return CudaResult.INVALID_CONTEXT;
    }
    long address = Memory.allocate(bytes);
    memory.put(address, bytes);
    Memory.putLong(pointer, address);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemFree_v2(long pointer) {
    if (memory.remove(pointer) == null) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.free(pointer);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemGetAddressRange_v2(long base, long size, long address) {
    Map.Entry<Long, Long> found = memory.floorEntry(address);
    if (found == null || address - found.getKey() >= found.getValue()) {
      return CudaResult.NOT_FOUND;
    }
    Memory.putLong(base, found.getKey());
    Memory.putLong(size, found.getValue());
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemGetInfo_v2(long free, long total) {
    Memory.putLong(free, TOTAL / 2);
    Memory.putLong(total, TOTAL);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemHostAlloc(long pointer, long bytes, int flags) {
    Memory.putLong(pointer, Memory.allocate(bytes));
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemFreeHost(long pointer) {
    Memory.free(pointer);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemHostRegister_v2(long pointer, long bytes, int flags) {
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemHostUnregister(long pointer) {
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemcpyHtoDAsync_v2(long target, long source, long bytes, long stream) {
    return queue(stream, () -> Memory.copy(source, target, bytes));
  }

  @Override
  public int cuMemcpyDtoHAsync_v2(long target, long source, long bytes, long stream) {
    return queue(stream, () -> Memory.copy(source, target, bytes));
  }

  @Override
  public int cuStreamWriteValue32_v2(long stream, long address, int value, int flags) {
    return queue(stream, () -> Memory.putIntVolatile(address, value));
  }

  @Override
  public int cuStreamCreate(long stream, int flags) {
    give(stream);
    streams.put(Memory.getLong(stream), CompletableFuture.completedFuture(null));
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuStreamDestroy_v2(long stream) {
    return streams.remove(stream) == null ? CudaResult.INVALID_HANDLE : CudaResult.SUCCESS;
  }

  @Override
  public int cuThreadExchangeStreamCaptureMode(long mode) {
    return 0;
  }

  @Override
  public int cuStreamIsCapturing(long stream, long status) {
    Memory.putInt(status, 0);
    return streams.containsKey(stream) ? CudaResult.SUCCESS : CudaResult.INVALID_HANDLE;
  }

  @Override
  public int cuStreamQuery(long stream) {
    return query(streams.get(stream));
  }

  @Override
  public int cuStreamSynchronize(long stream) {
    return await(streams.get(stream));
  }

  @Override
  public int cuEventCreate(long event, int flags) {
    give(event);
    events.put(Memory.getLong(event), CompletableFuture.completedFuture(null));
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuEventDestroy_v2(long event) {
    return events.remove(event) == null ? CudaResult.INVALID_HANDLE : CudaResult.SUCCESS;
  }

  @Override
  public int cuEventRecord(long event, long stream) {
    CompletableFuture<Void> work = streams.get(stream);
    if (work == null || !events.containsKey(event)) {
      return CudaResult.INVALID_HANDLE;
    }
    events.put(event, work);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuEventQuery(long event) {
    return query(events.get(event));
  }

  @Override
  public int cuEventSynchronize(long event) {
    return await(events.get(event));
  }

  @Override
  public int cuModuleLoadDataEx(long module, long image, int count, long options, long values) {
    return Memory.string(image, 64).equals("good image") ? give(module) : CudaResult.INVALID_IMAGE;
  }

  /** Waits for the GPU, as the driver does. */
  @Override
  public int cuModuleUnload(long module) {
    return cuCtxSynchronize();
  }

  @Override
  public int cuLibraryLoadData(
      long library,
      long image,
      long jitOptions,
      long jitValues,
      int jitCount,
      long options,
      long values,
      int count) {
    return cuModuleLoadDataEx(library, image, 0, 0, 0);
  }

  @Override
  public int cuLibraryGetKernel(long kernel, long library, long name) {
    return cuModuleGetFunction(kernel, library, name);
  }

  @Override
  public int cuKernelGetParamInfo(long kernel, long index, long offset, long size) {
    return current.get() == 0
        ? CudaResult.INVALID_CONTEXT
        : cuFuncGetParamInfo(kernel, index, offset, size);
  }

  @Override
  public int cuModuleGetFunction(long function, long module, long name) {
    switch (Memory.string(name, 64)) {
      case "store" -> Memory.putLong(function, STORE);
      case "block" -> Memory.putLong(function, BLOCK);
      default -> {
        return CudaResult.NOT_FOUND;
      }
    }
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuFuncGetParamInfo(long function, long index, long offset, long size) {
    int[] sizes = function == STORE ? new int[] {8, 4} : new int[] {8};
    if (index >= sizes.length) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(offset, index * 8);
    Memory.putLong(size, sizes[(int) index]);
    return CudaResult.SUCCESS;
  }

  /** Attributes as of a driver that knows 16, and refuses one of them. */
  private static int attribute(long value, int attribute, int base) {
    Memory.putInt(value, base + attribute);
    return attribute >= 0 && attribute < 16 && attribute != REFUSED_ATTRIBUTE
        ? CudaResult.SUCCESS
        : CudaResult.INVALID_VALUE;
  }

  @Override
  public int cuFuncGetAttribute(long value, int attribute, long function) {
    return attribute(value, attribute, 100);
  }

  @Override
  public int cuKernelGetAttribute(long value, int attribute, long kernel, int device) {
    return device == 0 ? attribute(value, attribute, 200) : CudaResult.INVALID_DEVICE;
  }

  @Override
  public int cuCtxGetDevice(long device) {
    Memory.putInt(device, 0);
    return current.get() == 0 ? CudaResult.INVALID_CONTEXT : CudaResult.SUCCESS;
  }

  @Override
  public int cuLaunchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters,
      long extra) {
    long packed = Memory.getLong(extra + 8);
    long address = Memory.getLong(packed);
    if (function == STORE) {
      int value = Memory.getInt(packed + 8);
      return queue(stream, () -> Memory.putIntVolatile(address, value));
    }
    return queue(stream, () -> block(address));
  }

  private static void block(long address) {
    while (Memory.getIntVolatile(address) == 0) {
      Thread.onSpinWait();
    }
  }

  @Override
  public int cuLaunchHostFunc(long stream, long function, long data) {
    return queue(
        stream,
        () -> {
          CountDownLatch ran = new CountDownLatch(1);
          Thread thread =
              new Thread(
                  () -> {
                    Function.getFunction(new Pointer(function))
                        .invokeVoid(new Object[] {new Pointer(data)});
                    ran.countDown();
                  });
          thread.setDaemon(true);
          thread.start();
          try {
            ran.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }
}
