package graft.remoting.software.driver;

import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.exec.GridRunner;
import graft.remoting.software.exec.TextureTable;
import graft.remoting.software.memory.DeviceMemory;

/** One device: its memory, what runs its kernels, and its primary context. */
final class Gpu implements AutoCloseable {
  private final int ordinal;
  private final SoftwareDeviceConfig config;
  private final TextureTable textures = new TextureTable();
  private DeviceMemory memory;
  private GridRunner runner;
  private Context primary;
  private int primaryCount;
  private int primaryFlags;

  Gpu(int ordinal, SoftwareDeviceConfig config) {
    this.ordinal = ordinal;
    this.config = config;
  }

  int ordinal() {
    return ordinal;
  }

  SoftwareDeviceConfig config() {
    return config;
  }

  TextureTable textures() {
    return textures;
  }

  /** Reserved when it is first needed. */
  synchronized DeviceMemory memory() {
    if (memory == null) {
      memory = new DeviceMemory(config.memoryBytes());
    }
    return memory;
  }

  /** Whether the address lies in this device's memory, allocated or not. */
  synchronized boolean reserves(long address) {
    return memory != null && memory.isReserved(address);
  }

  synchronized GridRunner runner() {
    if (runner == null) {
      runner =
          new GridRunner(memory(), config.threads(), multiprocessors(), textures, config.output());
    }
    return runner;
  }

  int multiprocessors() {
    return Math.max(1, config.threads());
  }

  synchronized Context primary() {
    return primary;
  }

  synchronized Context retainPrimary() {
    if (primary == null) {
      primary = new Context(this, primaryFlags, true);
    }
    primaryCount++;
    return primary;
  }

  /** Returns the context if this was its last release, else null. */
  synchronized Context releasePrimary() {
    if (primaryCount == 0) {
      throw new CudaException(201, "the primary context is not retained");
    }
    return --primaryCount == 0 ? takePrimary() : null;
  }

  synchronized Context takePrimary() {
    Context old = primary;
    primary = null;
    return old;
  }

  /**
   * After a reset the holders keep their count; the context is made anew when it is next retained.
   */
  synchronized boolean isPrimaryActive() {
    return primary != null;
  }

  synchronized int primaryFlags() {
    return primaryFlags;
  }

  synchronized void setPrimaryFlags(int flags) {
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
