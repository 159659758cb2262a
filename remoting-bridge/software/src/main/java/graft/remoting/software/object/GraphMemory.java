package graft.remoting.software.object;

import graft.remoting.software.memory.DeviceMemory;
import java.util.HashSet;
import java.util.Set;

/**
 * The memory that the allocation nodes of a graph allocate. Its address is the same for the life of
 * the graph and of the executable graphs instantiated from it, as CUDA promises. Memory that a node
 * or the program has freed is released with the last of these graphs; other memory stays until the
 * program frees it.
 */
public final class GraphMemory {
  private final Set<Long> freed = new HashSet<>();
  private DeviceMemory memory;
  private int users = 1;

  /** Allocates memory; 0 if there is not enough. */
  public synchronized long allocate(DeviceMemory from, long bytes) {
    memory = from;
    return from.allocate(bytes, this);
  }

  /** Returns the task that frees an allocation in graph order. */
  public synchronized Runnable freeLater(long address) {
    if (users == 0) {
      return () -> memory.release(address);
    }
    freed.add(address);
    return () -> {};
  }

  /** Adds a use, by a clone of the graph or an executable graph. */
  public synchronized GraphMemory share() {
    users++;
    return this;
  }

  /** Ends a use; the last one releases the freed memory. */
  public synchronized void release() {
    if (--users == 0) {
      freed.forEach(address -> memory.release(address)); // no memory, so no addresses to keep
    }
  }
}
