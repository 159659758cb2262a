package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;
import java.util.Arrays;

/** The server's own CUDA events of one context, kept for reuse. Thread-safe. */
public final class EventPool {
  private static final int BLOCKING_SYNC = 1;
  private static final int DISABLE_TIMING = 2;

  private final CudaDevice device;

  @GuardedBy("itself")
  private final ArrayDeque<Long> free = new ArrayDeque<>();

  EventPool(CudaDevice device) {
    this.device = device;
  }

  /**
   * Returns an event of the current context.
   *
   * @throws RefusedCallException with the device's result if it creates none
   */
  long take() {
    synchronized (free) {
      if (!free.isEmpty()) {
        return free.pop();
      }
    }
    try (Scratch scratch = new Scratch(8)) {
      int result = device.cuEventCreate(scratch.address(), BLOCKING_SYNC | DISABLE_TIMING);
      if (result != CudaResult.SUCCESS) {
        throw new RefusedCallException(result);
      }
      return Memory.getLong(scratch.address());
    }
  }

  /**
   * Returns an event that is recorded behind the work which is queued in {@code stream} now.
   *
   * @throws RefusedCallException with the device's result if the event cannot be recorded
   */
  public long record(long stream) {
    long event = take();
    int result = device.cuEventRecord(event, stream);
    if (result != CudaResult.SUCCESS) {
      give(event);
      throw new RefusedCallException(result);
    }
    return event;
  }

  /**
   * Records an event in each of some streams, as {@link #record} does.
   *
   * @return none if one cannot be recorded, as in a stream of another context
   */
  public long[] recordAll(long[] streams) {
    long[] events = new long[streams.length];
    for (int i = 0; i < streams.length; i++) {
      try {
        events[i] = record(streams[i]);
      } catch (RefusedCallException e) {
        give(Arrays.copyOf(events, i));
        return new long[0];
      }
    }
    return events;
  }

  /** Returns events to the pool. */
  public void give(long... events) {
    synchronized (free) {
      for (long event : events) {
        free.push(event);
      }
    }
  }
}
