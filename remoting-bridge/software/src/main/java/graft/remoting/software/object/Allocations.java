package graft.remoting.software.object;

import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.DeviceMemory;

/** Allocates and frees device memory, with the context or graph that owns each allocation. */
public final class Allocations {
  private Allocations() {}

  /** Allocates memory of a context. */
  public static long allocate(Context context, long bytes) {
    require(bytes > 0, "allocation of no bytes");
    long address = context.gpu().memory().allocate(bytes, context);
    if (address == 0) {
      throw outOfMemory(bytes, context.gpu().memory());
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
      if (found.owner() instanceof Context) {
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
