package graft.remoting.software.object;

import graft.remoting.software.memory.DeviceMemory;
import java.util.HashSet;
import java.util.Set;

/**
 * What the allocation nodes of a graph allocate. It lies at one address for the life of the graph
 * and of what was instantiated from it, as CUDA promises. What is freed meanwhile, by a node or by
 * the program, goes with them; what is not stays until the program frees it.
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

  /** What frees an allocation in its turn. */
  public synchronized Runnable freeLater(long address) {
    if (users == 0) {
      return () -> memory.release(address);
    }
    freed.add(address);
    return () -> {};
  }

  /** A clone of the graph, or an executable one, uses it too. */
  public synchronized GraphMemory share() {
    users++;
    return this;
  }

  /** Ends a use; the last one frees what is to be freed. */
  public synchronized void release() {
    if (--users == 0) {
      freed.forEach(address -> memory.release(address)); // no memory, no addresses
    }
  }
}
