package graft.remoting.software.object;

import graft.remoting.software.exec.GridRunner;
import graft.remoting.software.exec.KernelOutput;
import graft.remoting.software.exec.TextureTable;
import graft.remoting.software.memory.DeviceMemory;

/** One device: its memory, the runner of its kernels, and its primary context. */
public final class Gpu implements AutoCloseable {
  private final int ordinal;
  private final long memoryBytes;
  private final int computeMajor;
  private final int computeMinor;
  private final int threads;
  private final KernelOutput output;
  private final TextureTable textures = new TextureTable();
  private DeviceMemory memory;
  private GridRunner runner;
  private Context primary;
  private int primaryCount;
  private int primaryFlags;

  /**
   * Creates a device. Its memory is reserved when it is first needed.
   *
   * @param threads the largest number of cores that a kernel uses
   */
  public Gpu(
      int ordinal,
      long memoryBytes,
      int computeMajor,
      int computeMinor,
      int threads,
      KernelOutput output) {
    this.ordinal = ordinal;
    this.memoryBytes = memoryBytes;
    this.computeMajor = computeMajor;
    this.computeMinor = computeMinor;
    this.threads = threads;
    this.output = output;
  }

  public int ordinal() {
    return ordinal;
  }

  public long memoryBytes() {
    return memoryBytes;
  }

  public int computeMajor() {
    return computeMajor;
  }

  public int computeMinor() {
    return computeMinor;
  }

  public TextureTable textures() {
    return textures;
  }

  /** Returns the memory, which is reserved by the first call. */
  public synchronized DeviceMemory memory() {
    if (memory == null) {
      memory = new DeviceMemory(memoryBytes);
    }
    return memory;
  }

  /** Whether the address lies in this device's memory, allocated or not. */
  public synchronized boolean reserves(long address) {
    return memory != null && memory.isReserved(address);
  }

  public synchronized GridRunner runner() {
    if (runner == null) {
      runner = new GridRunner(memory(), threads, multiprocessors(), textures, output);
    }
    return runner;
  }

  public int multiprocessors() {
    return Math.max(1, threads);
  }

  public synchronized Context primary() {
    return primary;
  }

  public synchronized Context retainPrimary() {
    if (primary == null) {
      primary = new Context(this, primaryFlags, true);
    }
    primaryCount++;
    return primary;
  }

  /**
   * Releases the primary context. Returns the context if this was its last reference, else null.
   */
  public synchronized Context releasePrimary() {
    if (primaryCount == 0) {
      throw new CudaException(201, "the primary context is not retained");
    }
    return --primaryCount == 0 ? takePrimary() : null;
  }

  public synchronized Context takePrimary() {
    Context old = primary;
    primary = null;
    return old;
  }

  /**
   * Returns whether the primary context exists. After a reset its holders keep their references,
   * and the context is created anew when it is next retained.
   */
  public synchronized boolean isPrimaryActive() {
    return primary != null;
  }

  public synchronized int primaryFlags() {
    return primaryFlags;
  }

  public synchronized void setPrimaryFlags(int flags) {
    primaryFlags = flags;
  }

  @Override
  public synchronized void close() {
    if (runner != null) {
      runner.close();
    }
    if (memory != null) {
      memory.close();
    }
  }
}
