package graft.remoting.server.exchange;

/** What a GPU does a session's work with, as far as GPU time is counted apart by it. */
public enum GpuEngine {
  /** Kernels, fills, copies within the device, graphs, and work of several engines together. */
  COMPUTE(1),
  /** Copies from a host's memory to the device's. */
  COPY_TO_DEVICE(2),
  /** Copies from the device's memory to a host's. */
  COPY_FROM_DEVICE(4);

  private final int bit;

  GpuEngine(int bit) {
    this.bit = bit;
  }

  /** Returns the bit that stands for this engine in a set of engines. */
  public int bit() {
    return bit;
  }

  /** Returns the engine that work counts for which uses all engines of a set. */
  public static GpuEngine of(int bits) {
    if (bits == COPY_TO_DEVICE.bit) {
      return COPY_TO_DEVICE;
    }
    return bits == COPY_FROM_DEVICE.bit ? COPY_FROM_DEVICE : COMPUTE;
  }
}
