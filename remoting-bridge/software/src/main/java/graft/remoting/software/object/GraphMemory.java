package graft.remoting.software.object;

import graft.remoting.software.memory.DeviceMemory;
import java.util.HashSet;
import java.util.Set;

/**
 * The memory that the allocation nodes of a graph allocate. Its address is the same for the life of
 * the graph and of the executable graphs instantiated from it, as CUDA promises. When the last of
 * these graphs ends, memory that is not allocated at that time is released; memory that is
 * allocated stays until the program frees it.
 */
public final class GraphMemory {
  /** The addresses of all nodes. */
  private final Set<Long> addresses = new HashSet<>();

  /** The addresses whose nodes have run, of memory that nothing has freed since. */
  private final Set<Long> allocated = new HashSet<>();

  private DeviceMemory memory;
  private int users = 1;

  /** Returns the address of the memory of a new node; 0 if there is not enough memory. */
  public synchronized long allocate(DeviceMemory from, long bytes) {
    memory = from;
    long address = from.allocate(bytes, this);
    if (address != 0) {
      addresses.add(address);
    }
    return address;
  }

  /** Notes that the node of an address has run. */
  public synchronized void allocated(long address) {
    allocated.add(address);
  }

  /** Returns whether memory is allocated. */
  public synchronized boolean isAllocated(long address) {
    return allocated.contains(address);
  }

  /** Frees memory. Its address stays reserved while there are graphs. */
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

  /** Ends a use. The last one releases the memory that is not allocated. */
  public synchronized void release() {
    if (--users == 0) {
      addresses.removeAll(allocated);
      addresses.forEach(
          address -> memory.release(address)); // memory is null only if there are none
    }
  }
}
