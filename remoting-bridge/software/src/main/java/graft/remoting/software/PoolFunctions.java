package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.PoolApi;
import graft.remoting.software.object.Allocations;
import graft.remoting.software.object.Capture;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Gpus;
import graft.remoting.software.object.GraphMemory;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.OpenedMemory;
import graft.remoting.software.object.Pool;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * CUDA driver API: "Stream Ordered Memory Allocator". Memory is allocated immediately, which is an
 * order that CUDA allows.
 */
final class PoolFunctions implements PoolApi {
  private final Calls calls;
  private final Gpus gpus;
  private final Handles handles;
  private final Contexts contexts;
  private final Streams streams;
  private final OpenedMemory openedMemory;
  private final Map<Integer, Long> defaultPools = new ConcurrentHashMap<>();
  private final Map<Integer, Long> currentPools = new ConcurrentHashMap<>();

  PoolFunctions(
      Calls calls,
      Gpus gpus,
      Handles handles,
      Contexts contexts,
      Streams streams,
      OpenedMemory openedMemory) {
    this.calls = calls;
    this.gpus = gpus;
    this.handles = handles;
    this.contexts = contexts;
    this.streams = streams;
    this.openedMemory = openedMemory;
  }

  private long allocateIn(Stream stream, long bytes) {
    Capture capture = stream.capture();
    if (capture == null) {
      return Allocations.allocateFromPool(stream.context().gpu(), bytes);
    }
    GraphMemory memory = capture.graph().memory();
    long address = Allocations.allocateFor(memory, contexts.memory(), bytes);
    streams.submit(stream, GraphNode.Type.ALLOCATE, () -> memory.allocated(address));
    capture.frontier().forEach(node -> node.setAddress(address));
    return address;
  }

  @Override
  public int cuMemAllocAsync(long result, long bytes, long stream) {
    return calls.run(() -> putLong(result, allocateIn(streams.get(stream), bytes)));
  }

  @Override
  public int cuMemAllocFromPoolAsync(long result, long bytes, long pool, long stream) {
    return calls.run(
        () -> {
          handles.get(pool, Pool.class);
          putLong(result, allocateIn(streams.get(stream), bytes));
        });
  }

  @Override
  public int cuMemFreeAsync(long address, long stream) {
    return calls.run(
        () -> {
          if (openedMemory.isOpened(address)) {
            openedMemory.close(address);
            return;
          }
          Stream s = streams.get(stream);
          if (address != 0) {
            streams.submit(
                s, GraphNode.Type.FREE, Allocations.freeLater(s.context().gpu().memory(), address));
          }
        });
  }

  @Override
  public int cuMemPoolCreate(long pool, long properties) {
    return calls.run(
        () -> putLong(pool, handles.add(new Pool(UNSAFE.getInt(properties + 12), false))));
  }

  @Override
  public int cuMemPoolDestroy(long pool) {
    return calls.run(
        () -> {
          require(!handles.get(pool, Pool.class).isDefault(), "the default pool stays");
          handles.remove(pool);
        });
  }

  /** Sets a CUmemPool_attribute. Memory is freed immediately, whatever the release threshold. */
  @Override
  public int cuMemPoolSetAttribute(long pool, int attribute, long value) {
    return calls.run(() -> pool(pool).attributes().put(attribute, UNSAFE.getLong(value)));
  }

  /**
   * Returns an attribute. Attributes 1 to 3 have 32 bits and are on, as in CUDA; the others count
   * bytes.
   */
  @Override
  public int cuMemPoolGetAttribute(long pool, int attribute, long value) {
    return calls.run(
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
    return handles.get(handle, Pool.class);
  }

  @Override
  public int cuMemPoolTrimTo(long pool, long keep) {
    return calls.run(() -> handles.get(pool, Pool.class));
  }

  @Override
  public int cuMemPoolSetAccess(long pool, long map, long count) {
    return calls.run(() -> handles.get(pool, Pool.class));
  }

  @Override
  public int cuMemPoolGetAccess(long flags, long pool, long location) {
    return calls.run(
        () -> {
          handles.get(pool, Pool.class);
          putInt(flags, 3);
        });
  }

  private long defaultPool(int device) {
    gpus.get(device);
    return defaultPools.computeIfAbsent(device, d -> handles.add(new Pool(d, true)));
  }

  @Override
  public int cuDeviceGetDefaultMemPool(long pool, int device) {
    return calls.run(() -> putLong(pool, defaultPool(device)));
  }

  @Override
  public int cuDeviceGetMemPool(long pool, int device) {
    return calls.run(() -> putLong(pool, currentPools.getOrDefault(device, defaultPool(device))));
  }

  @Override
  public int cuDeviceSetMemPool(int device, long pool) {
    return calls.run(
        () -> {
          gpus.get(device);
          handles.get(pool, Pool.class);
          currentPools.put(device, pool);
        });
  }

  @Override
  public int cuDeviceGraphMemTrim(int device) {
    return calls.run(() -> gpus.get(device));
  }
}
