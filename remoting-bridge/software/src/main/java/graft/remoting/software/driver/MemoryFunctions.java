package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.memory.DeviceMemory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * CUDA driver API: "Memory Management", "Stream Ordered Memory Allocator", "Unified Addressing".
 */
abstract class MemoryFunctions extends ContextFunctions {
  private static final int PITCH_ALIGNMENT = 512;

  /** A CUmemoryPool; pools only differ by name here, and keep what a program notes at them. */
  record Pool(int device, boolean isDefault, Map<Integer, Long> attributes) {
    Pool(int device, boolean isDefault) {
      this(device, isDefault, new ConcurrentHashMap<>());
    }
  }

  private final Map<Long, Long> hostAllocations = new ConcurrentHashMap<>();
  private final Map<Long, Integer> hostFlags = new ConcurrentHashMap<>();
  private final Map<Integer, Long> defaultPools = new ConcurrentHashMap<>();
  private final Map<Integer, Long> currentPools = new ConcurrentHashMap<>();

  MemoryFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  protected final DeviceMemory memory() {
    return context().gpu().memory();
  }

  private static long allocate(Context context, long bytes) {
    require(bytes > 0, "allocation of no bytes");
    long address = context.gpu().memory().allocate(bytes, context);
    if (address == 0) {
      throw outOfMemory(bytes, context.gpu().memory());
    }
    return address;
  }

  protected static CudaException outOfMemory(long bytes, DeviceMemory memory) {
    return new CudaException(
        CudaResult.OUT_OF_MEMORY, bytes + " bytes asked for, " + memory.available() + " free");
  }

  @Override
  public int cuMemAlloc_v2(long result, long bytes) {
    return call(() -> putLong(result, allocate(context(), bytes)));
  }

  @Override
  public int cuMemAllocPitch_v2(
      long result, long pitch, long width, long height, int elementBytes) {
    return call(
        () -> {
          require(width > 0 && height > 0, "allocation of no bytes");
          long rowBytes = (width + PITCH_ALIGNMENT - 1) & -PITCH_ALIGNMENT;
          putLong(result, allocate(context(), rowBytes * height));
          putLong(pitch, rowBytes);
        });
  }

  @Override
  public int cuMemFree_v2(long address) {
    return call(
        () -> {
          if (address == 0) {
            return;
          }
          Context context = context();
          context.awaitAll(); // no kernel may still use it
          checkError(context);
          freeLater(context.gpu().memory(), address).run();
        });
  }

  @Override
  public int cuMemGetInfo_v2(long free, long total) {
    return call(
        () -> {
          putLong(free, memory().available());
          putLong(total, context().gpu().config().memoryBytes());
        });
  }

  @Override
  public int cuMemGetAddressRange_v2(long base, long size, long address) {
    return call(
        () -> {
          DeviceMemory.Allocation found = memory().find(address);
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

  // ---- stream-ordered allocation: an address is given at once, which is a legal order

  private long allocateIn(Stream stream, long bytes) {
    Capture capture = stream.capture();
    if (capture == null) {
      return allocate(stream.context(), bytes);
    }
    long address = allocateFor(capture.graph().memory(), bytes);
    submit(stream, GraphNode.Type.ALLOCATE, () -> {});
    capture.frontier().forEach(node -> node.setAddress(address));
    return address;
  }

  /** Allocates memory that a graph's nodes use. */
  protected final long allocateFor(GraphMemory graph, long bytes) {
    require(bytes > 0, "allocation of no bytes");
    long address = graph.allocate(memory(), bytes);
    if (address == 0) {
      throw outOfMemory(bytes, memory());
    }
    return address;
  }

  /** What frees memory in its turn. */
  protected static Runnable freeLater(DeviceMemory memory, long address) {
    DeviceMemory.Allocation found = memory.find(address);
    if (found != null && found.address() == address) {
      if (found.owner() instanceof GraphMemory graph) {
        return graph.freeLater(address);
      }
      if (found.owner() instanceof Context) {
        return () -> memory.release(address);
      }
    }
    throw new CudaException(
        CudaResult.INVALID_VALUE, "no allocation starts at 0x" + Long.toHexString(address));
  }

  @Override
  public int cuMemAllocAsync(long result, long bytes, long stream) {
    return call(() -> putLong(result, allocateIn(stream(stream), bytes)));
  }

  @Override
  public int cuMemAllocFromPoolAsync(long result, long bytes, long pool, long stream) {
    return call(
        () -> {
          handles().get(pool, Pool.class);
          putLong(result, allocateIn(stream(stream), bytes));
        });
  }

  @Override
  public int cuMemFreeAsync(long address, long stream) {
    return call(
        () -> {
          Stream s = stream(stream);
          if (address != 0) {
            submit(s, GraphNode.Type.FREE, freeLater(s.context().gpu().memory(), address));
          }
        });
  }

  private long defaultPool(int device) {
    gpu(device);
    return defaultPools.computeIfAbsent(device, d -> handles().add(new Pool(d, true)));
  }

  @Override
  public int cuDeviceGetDefaultMemPool(long pool, int device) {
    return call(() -> putLong(pool, defaultPool(device)));
  }

  @Override
  public int cuDeviceGetMemPool(long pool, int device) {
    return call(() -> putLong(pool, currentPools.getOrDefault(device, defaultPool(device))));
  }

  @Override
  public int cuDeviceSetMemPool(int device, long pool) {
    return call(
        () -> {
          gpu(device);
          handles().get(pool, Pool.class);
          currentPools.put(device, pool);
        });
  }

  @Override
  public int cuMemPoolCreate(long pool, long properties) {
    return call(
        () -> putLong(pool, handles().add(new Pool(UNSAFE.getInt(properties + 12), false))));
  }

  @Override
  public int cuMemPoolDestroy(long pool) {
    return call(
        () -> {
          require(!handles().get(pool, Pool.class).isDefault(), "the default pool stays");
          handles().remove(pool);
        });
  }

  /** CUmemPool_attribute: what is freed goes at once, whatever the threshold. */
  @Override
  public int cuMemPoolSetAttribute(long pool, int attribute, long value) {
    return call(() -> pool(pool).attributes().put(attribute, UNSAFE.getLong(value)));
  }

  /** Attributes 1 to 3 are of 32 bits and are on, as CUDA has them; the others count bytes. */
  @Override
  public int cuMemPoolGetAttribute(long pool, int attribute, long value) {
    return call(
        () -> {
          require(attribute >= 1 && attribute <= 8, "pool attribute " + attribute);
          boolean flag = attribute <= 3;
          Long set = pool(pool).attributes().get(attribute);
          if (flag) {
            putInt(value, set == null ? 1 : set.intValue());
          } else {
            putLong(value, set == null ? 0 : set);
          }
        });
  }

  private Pool pool(long handle) {
    return handles().get(handle, Pool.class);
  }

  @Override
  public int cuMemPoolTrimTo(long pool, long keep) {
    return call(() -> handles().get(pool, Pool.class));
  }

  @Override
  public int cuMemPoolSetAccess(long pool, long map, long count) {
    return call(() -> handles().get(pool, Pool.class));
  }

  @Override
  public int cuMemPoolGetAccess(long flags, long pool, long location) {
    return call(
        () -> {
          handles().get(pool, Pool.class);
          putInt(flags, 3);
        });
  }

  @Override
  public int cuDeviceGraphMemTrim(int device) {
    return call(() -> gpu(device));
  }

  // ---- host memory: kernels use it at its own address

  @Override
  public int cuMemHostAlloc(long result, long bytes, int flags) {
    return call(
        () -> {
          require(bytes > 0, "allocation of no bytes");
          DeviceMemory memory = memory();
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
    return call(
        () -> {
          Context context = context();
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
    return call(
        () -> {
          require(address != 0 && bytes > 0, "no memory to register");
          if (memory().hostStart(address) != 0) {
            throw new CudaException(
                CudaResult.HOST_MEMORY_ALREADY_REGISTERED, "already registered");
          }
          hostFlags.put(address, flags);
          memory().addHost(address, bytes);
        });
  }

  @Override
  public int cuMemHostUnregister(long address) {
    return call(
        () -> {
          Context context = context();
          context.awaitAll();
          hostFlags.remove(address);
          if (hostAllocations.containsKey(address) || !context.gpu().memory().removeHost(address)) {
            throw new CudaException(CudaResult.HOST_MEMORY_NOT_REGISTERED, "not registered");
          }
        });
  }

  @Override
  public int cuMemHostGetDevicePointer_v2(long result, long address, int flags) {
    return call(
        () -> {
          require(memory().hostStart(address) != 0, "not pinned");
          putLong(result, address);
        });
  }

  @Override
  public int cuMemHostGetFlags(long flags, long address) {
    return call(
        () -> {
          Integer found = hostFlags.get(memory().hostStart(address));
          require(found != null, "not pinned");
          putInt(flags, found);
        });
  }

  // ---- unified addressing

  private static final int TYPE_HOST = 1;
  private static final int TYPE_DEVICE = 2;

  /** CUpointer_attribute; false if the attribute does not apply to the pointer. */
  private boolean pointerAttribute(long data, int attribute, long pointer) {
    Context context = context();
    DeviceMemory memory = context.gpu().memory();
    DeviceMemory.Allocation device = memory.find(pointer);
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
    return call(
        () -> require(pointerAttribute(data, attribute, pointer), "pointer unknown to CUDA"));
  }

  @Override
  public int cuPointerGetAttributes(int count, long attributes, long data, long pointer) {
    return call(
        () -> {
          for (int i = 0; i < count; i++) {
            pointerAttribute(
                UNSAFE.getLong(data + 8L * i), UNSAFE.getInt(attributes + 4L * i), pointer);
          }
        });
  }

  @Override
  public int cuPointerSetAttribute(long value, int attribute, long pointer) {
    return call(() -> require(attribute == 6, "only SYNC_MEMOPS can be set"));
  }
}
