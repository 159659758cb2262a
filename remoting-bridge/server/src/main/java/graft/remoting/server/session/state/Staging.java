package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;

/**
 * Pinned buffers through which data passes between the channel and the device: while one is copied,
 * the next is received. Allocated when they are first needed. Thread-safe.
 */
public final class Staging {
  /** Bytes of a small buffer. */
  static final int SMALL = 256 << 10;

  /** Bytes of a large buffer. */
  static final int LARGE = 4 << 20;

  private static final int PORTABLE = 1;

  private final CudaDevice device;
  private final int count;
  private final int size;

  @GuardedBy("this")
  private final ArrayDeque<Buffer> free = new ArrayDeque<>();

  private final ArrayDeque<Buffer> copying = new ArrayDeque<>();
  private volatile boolean hasFree;
  private volatile int allocated;

  Staging(CudaDevice device, int count, int size) {
    this.device = device;
    this.count = count;
    this.size = size;
  }

  /** One buffer and the event that says when its copy is over. */
  public static final class Buffer {
    private final long address;
    private final long event;

    private Buffer(long address, long event) {
      this.address = address;
      this.event = event;
    }

    public long address() {
      return address;
    }

    public long event() {
      return event;
    }
  }

  public int bufferSize() {
    return size;
  }

  /**
   * A buffer that is free; waits for the oldest copy when all are in use.
   *
   * @param mayWait whether waiting is allowed; if not, another buffer is made
   * @throws RefusedCallException with the device's answer when it gives none
   */
  public Buffer take(boolean mayWait) {
    return take(mayWait, false);
  }

  /**
   * The same for threads that pass their buffers on to another, which gives them back: when all are
   * with those, waits for one.
   */
  public Buffer takeInTurn(boolean mayWait) {
    return take(mayWait, true);
  }

  /** A buffer that is free, without a look at the device; null if there is none. */
  public synchronized Buffer takeFree() {
    Buffer buffer = free.poll();
    hasFree = !free.isEmpty();
    return buffer;
  }

  /** Whether there is one that is free: for a look without a lock. */
  public boolean hasFree() {
    return hasFree;
  }

  /** Whether all buffers have been made that there may be. */
  public boolean isFull() {
    return allocated >= count;
  }

  /** Whether one is being copied, or was when somebody last looked. */
  synchronized boolean isCopying() {
    return !copying.isEmpty();
  }

  private Buffer take(boolean mayWait, boolean inTurn) {
    Buffer oldest;
    synchronized (this) {
      Buffer buffer = freeOne();
      try {
        while (buffer == null && inTurn && mayWait && allocated >= count && copying.isEmpty()) {
          wait();
          buffer = freeOne();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("nothing interrupts the threads of a session", e);
      }
      if (buffer != null) {
        return buffer;
      }
      if (allocated < count || !mayWait || copying.isEmpty()) {
        Buffer made = allocate();
        allocated++;
        return made;
      }
      oldest = copying.remove();
    }
    // Its error, if any, is the context's: the copy that comes next reports it.
    device.cuEventSynchronize(oldest.event);
    return oldest;
  }

  @GuardedBy("this")
  private Buffer freeOne() {
    while (!copying.isEmpty()
        && device.cuEventQuery(copying.peek().event) != CudaResult.NOT_READY) {
      free.push(copying.remove());
    }
    return takeFree();
  }

  /**
   * Takes back what has been copied, so that others need not ask. For the one thread that copies.
   */
  void recycle() {
    Buffer oldest;
    synchronized (this) {
      oldest = copying.peek();
    }
    while (oldest != null && device.cuEventQuery(oldest.event) != CudaResult.NOT_READY) {
      synchronized (this) {
        // Another thread may have seen it too.
        if (copying.peek() == oldest) {
          give(copying.remove());
        }
        oldest = copying.peek();
      }
    }
  }

  private Buffer allocate() {
    try (Scratch scratch = new Scratch(16)) {
      int result = device.cuMemHostAlloc(scratch.address(), size, PORTABLE);
      if (result == CudaResult.SUCCESS) {
        // 2: no timing; the thread that waits for it should not sleep long.
        result = device.cuEventCreate(scratch.address() + 8, 2);
      }
      if (result != CudaResult.SUCCESS) {
        throw new RefusedCallException(result);
      }
      return new Buffer(Memory.getLong(scratch.address()), Memory.getLong(scratch.address() + 8));
    }
  }

  /** A copy out of the buffer was queued on {@code stream}: it is free when that is over. */
  public int copies(Buffer buffer, long stream) {
    int result = device.cuEventRecord(buffer.event, stream);
    synchronized (this) {
      copying.add(buffer);
      notifyAll();
    }
    return result;
  }

  /** Gives back a buffer that no copy uses. */
  public synchronized void give(Buffer buffer) {
    free.push(buffer);
    hasFree = true;
    notifyAll();
  }
}
