package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Pinned memory in powers of two, for copies that must be queued as a whole. Some of it is kept for
 * reuse. Thread-safe, but the calling thread must have a current context.
 */
public final class PinnedPool {
  private static final long SMALLEST = 64 << 10;
  private static final long KEPT = 256L << 20;
  private static final int PORTABLE = 1;

  /**
   * How long a copy waits for earlier ones to be received by the client. The earlier ones may be
   * queued behind a kernel that takes seconds. The wait has an end because they may also depend on
   * calls of the session that come after this copy.
   */
  private static final long PATIENCE_MILLIS = 5_000;

  private final CudaDevice device;
  private final HostMemory memory;

  @GuardedBy("itself")
  private final Map<Long, ArrayDeque<Long>> free = new HashMap<>();

  @GuardedBy("free")
  private long kept;

  PinnedPool(CudaDevice device, HostMemory memory) {
    this.device = device;
    this.memory = memory;
  }

  private static long sizeClass(long bytes) {
    return bytes <= SMALLEST ? SMALLEST : Long.highestOneBit(bytes - 1) << 1;
  }

  /**
   * Returns at least {@code bytes} bytes. If the session holds as much host memory as it may, the
   * call waits for a moment for memory that the client's progress releases.
   *
   * @throws RefusedCallException with the device's result if it allocates none
   */
  public long take(long bytes) {
    long size = sizeClass(bytes);
    synchronized (free) {
      ArrayDeque<Long> list = free.get(size);
      if (list != null && !list.isEmpty()) {
        kept -= size;
        return list.pop();
      }
    }
    if (size <= 0) {
      throw new RefusedCallException(CudaResult.OUT_OF_MEMORY);
    }
    if (!memory.await(size, PATIENCE_MILLIS)) {
      // Memory of other sizes may lie here unused.
      close();
      if (!memory.take(size)) {
        throw new RefusedCallException(CudaResult.OUT_OF_MEMORY);
      }
    }
    try (Scratch scratch = new Scratch(8)) {
      int result = device.cuMemHostAlloc(scratch.address(), size, PORTABLE);
      if (result != CudaResult.SUCCESS) {
        memory.give(size);
        throw new RefusedCallException(result);
      }
      return Memory.getLong(scratch.address());
    }
  }

  /** Frees the memory that no copy uses. */
  void close() {
    Map<Long, ArrayDeque<Long>> unused;
    synchronized (free) {
      unused = new HashMap<>(free);
      free.clear();
      kept = 0;
    }
    unused.forEach(
        (size, addresses) ->
            addresses.forEach(
                address -> {
                  device.cuMemFreeHost(address);
                  memory.give(size);
                }));
  }

  /**
   * Returns memory to the pool.
   *
   * @param bytes the argument of {@link #take} that the memory came from
   */
  public void give(long address, long bytes) {
    long size = sizeClass(bytes);
    synchronized (free) {
      if (kept + size <= KEPT) {
        kept += size;
        free.computeIfAbsent(size, key -> new ArrayDeque<>()).push(address);
        return;
      }
    }
    device.cuMemFreeHost(address);
    memory.give(size);
  }
}
