package graft.remoting.software.object;

import graft.remoting.software.memory.DeviceMemory;
import java.util.HashSet;
import java.util.Set;

/**
 * The memory that the allocation nodes of a graph allocate. Its address is the same for the life of
 * the graph and of the executable graphs instantiated from it, as CUDA promises. With the last of
 * these graphs what is not allocated then is released; other memory stays until the program frees
 * it.
 */
public final class GraphMemory {
  private final Set<Long> addresses = new HashSet<>();

  /** What nodes that have run have allocated, and nothing has freed since. */
  private final Set<Long> allocated = new HashSet<>();

  private DeviceMemory memory;
  private int users = 1;

  /** Gives memory to a node; 0 if there is not enough. */
  public synchronized long allocate(DeviceMemory from, long bytes) {
    memory = from;
    long address = from.allocate(bytes, this);
    if (address != 0) {
      addresses.add(address);
    }
    return address;
  }

  /** Allocates a node's memory when the node runs. */
  public synchronized void allocated(long address) {
    allocated.add(address);
  }

  /** Returns whether memory is allocated. */
  public synchronized boolean isAllocated(long address) {
    return allocated.contains(address);
  }

  /** Frees memory, which stays the graphs' own while there are any. */
  public synchronized void free(long address) {
    if (allocated.remove(address) && users == 0) {
      memory.release(address);
    }
  }

  /** Adds a use, by a clone of the graph or an executable graph. */
  public synchronized GraphMemory share() {
    users++;
    return this;
  }

  /** Ends a use. */
  public synchronized void release() {
    if (--users == 0) {
      addresses.removeAll(allocated);
      addresses.forEach(address -> memory.release(address)); // no memory, so no addresses
    }
  }
}
