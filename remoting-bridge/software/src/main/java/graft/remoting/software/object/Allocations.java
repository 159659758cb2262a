package graft.remoting.software.object;

import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.DeviceMemory;

/**
 * Allocates and frees device memory, with the context, graph or GPU that owns each allocation. A
 * pool's memory is the GPU's: it outlives the context in which it was allocated.
 */
public final class Allocations {
  private Allocations() {}

  /** Allocates memory of a context. */
  public static long allocate(Context context, long bytes) {
    return allocate(context.gpu(), bytes, context);
  }

  /** Allocates memory of a pool. */
  public static long allocateFromPool(Gpu gpu, long bytes) {
    return allocate(gpu, bytes, gpu);
  }

  private static long allocate(Gpu gpu, long bytes, Object owner) {
    require(bytes > 0, "allocation of no bytes");
    long address = gpu.memory().allocate(bytes, owner);
    if (address == 0) {
      throw outOfMemory(bytes, gpu.memory());
    }
    return address;
  }

  /** Allocates memory that a graph's nodes use. */
  public static long allocateFor(GraphMemory graph, DeviceMemory memory, long bytes) {
    require(bytes > 0, "allocation of no bytes");
    long address = graph.allocate(memory, bytes);
    if (address == 0) {
      throw outOfMemory(bytes, memory);
    }
    return address;
  }

  /**
   * Returns the allocation that an address lies in; null if there is none, or if the address is
   * that of a graph's node whose memory is not allocated now.
   */
  public static DeviceMemory.Allocation find(DeviceMemory memory, long address) {
    DeviceMemory.Allocation found = memory.find(address);
    boolean isFreed =
        found != null
            && found.owner() instanceof GraphMemory graph
            && !graph.isAllocated(found.address());
    return isFreed ? null : found;
  }

  /** Frees memory at once. */
  public static void free(DeviceMemory memory, long address) {
    require(find(memory, address) != null, "nothing is allocated there");
    freeLater(memory, address).run();
  }

  /** Returns the task that frees memory in stream order. */
  public static Runnable freeLater(DeviceMemory memory, long address) {
    DeviceMemory.Allocation found = memory.find(address);
    if (found != null && found.address() == address) {
      if (found.owner() instanceof GraphMemory graph) {
        return () -> graph.free(address);
      }
      if (found.owner() instanceof Context || found.owner() instanceof Gpu) {
        return () -> memory.release(address);
      }
    }
    throw new CudaException(
        CudaResult.INVALID_VALUE, "no allocation starts at 0x" + Long.toHexString(address));
  }

  public static CudaException outOfMemory(long bytes, DeviceMemory memory) {
    return new CudaException(
        CudaResult.OUT_OF_MEMORY, bytes + " bytes requested, " + memory.available() + " free");
  }
}
