package graft.remoting.server.session.memory;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Fills memory with zeros, as the driver does with all that {@code cuMemAlloc} gives (seen on an
 * H200, driver 580: memory that the same process had freed and got again was zero). It is done on a
 * stream of its own, which no work of the program delays.
 */
final class Erasure {
  private static final int NON_BLOCKING = 1; // CU_STREAM_NON_BLOCKING

  /**
   * How many nanoseconds an allocation waits for memory to be erased, which takes long while the
   * GPU works for another process.
   */
  private static final long PATIENCE = 100_000;

  private final CudaDevice device;
  private final LongSupplier nanos;

  /** The stream of each context that has any. */
  private final Map<Long, Long> streams = new HashMap<>();

  Erasure(CudaDevice device, LongSupplier nanos) {
    this.device = device;
    this.nanos = nanos;
  }

  /** Begins to erase memory of the current context; returns whether the driver does it. */
  boolean begin(long context, long address, long bytes) {
    Long stream = streams.get(context);
    if (stream == null) {
      try (Scratch result = new Scratch(8)) {
        if (device.cuStreamCreate(result.address(), NON_BLOCKING) != CudaResult.SUCCESS) {
          return false;
        }
        stream = Memory.getLong(result.address());
      }
      streams.put(context, stream);
    }
    return device.cuMemsetD8Async(address, 0, bytes, stream) == CudaResult.SUCCESS;
  }

  /** Returns whether all of a context is erased; waits a moment for it. */
  boolean await(long context) {
    long stream = streams.get(context);
    long end = nanos.getAsLong() + PATIENCE;
    int code = device.cuStreamQuery(stream);
    while (code == CudaResult.NOT_READY && nanos.getAsLong() - end < 0) {
      Thread.onSpinWait();
      code = device.cuStreamQuery(stream);
    }
    return code == CudaResult.SUCCESS;
  }

  /** Gives the streams back, before a context ends. */
  void end() {
    streams.values().forEach(device::cuStreamDestroy_v2);
    streams.clear();
  }
}
