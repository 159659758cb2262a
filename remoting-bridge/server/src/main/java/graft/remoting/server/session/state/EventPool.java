package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;

/** Events of the server's own, of one context, used again and again. Thread-safe. */
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
   * An event, of the current context.
   *
   * @throws RefusedCallException with the device's answer when it makes none
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
   * An event that is reached when all that {@code stream} has to do now is done.
   *
   * @throws RefusedCallException with the device's answer when it records none
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

  /** Gives one back. */
  public void give(long event) {
    synchronized (free) {
      free.push(event);
    }
  }
}
