package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;

/**
 * Pinned buffers through which data passes between the channel and the device: while one buffer is
 * copied, the next is received into. Buffers are allocated when they are first needed. Thread-safe.
 */
public final class Staging {
  /** The size of a small buffer. */
  static final int SMALL = 256 << 10;

  /** The size of a large buffer. */
  static final int LARGE = 4 << 20;

  private static final int PORTABLE = 1;

  private final CudaDevice device;
  private final HostMemory memory;
  private final int count;
  private final int size;

  @GuardedBy("this")
  private final ArrayDeque<Buffer> free = new ArrayDeque<>();

  private final ArrayDeque<Buffer> copying = new ArrayDeque<>();
  private volatile boolean hasFree;
  private volatile int allocated;

  Staging(CudaDevice device, HostMemory memory, int count, int size) {
    this.device = device;
    this.memory = memory;
    this.count = count;
    this.size = size;
  }

  /** A buffer, and the event that is recorded behind its copy. */
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
   * Returns a free buffer; waits for the oldest copy if all are in use.
   *
   * @param mayWait whether the call may wait; if not, it creates another buffer
   * @throws RefusedCallException with the device's result if it allocates none
   */
  public Buffer take(boolean mayWait) {
    return take(mayWait, false);
  }

  /**
   * As {@link #take}, for threads that pass their buffers on to another thread, which returns them.
   * If all buffers are with that thread, the call waits for one.
   */
  public Buffer takeInTurn(boolean mayWait) {
    return take(mayWait, true);
  }

  /** Returns a free buffer without querying the device, null if there is none. */
  public synchronized Buffer takeFree() {
    Buffer buffer = free.poll();
    hasFree = !free.isEmpty();
    return buffer;
  }

  /** Returns whether a buffer is free. The answer is not synchronized and may be outdated. */
  public boolean hasFree() {
    return hasFree;
  }

  /** Returns whether the largest number of buffers has been created. */
  public boolean isFull() {
    return allocated >= count;
  }

  /** Returns whether a buffer was being copied when the device was last queried. */
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
    // An error of the copy belongs to the context; the next copy reports it.
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
   * Returns the buffers whose copies have finished, so that other threads need not query the
   * device. Only the thread that queues copies calls this.
   */
  public void recycle() {
    Buffer oldest;
    synchronized (this) {
      oldest = copying.peek();
    }
    while (oldest != null && device.cuEventQuery(oldest.event) != CudaResult.NOT_READY) {
      synchronized (this) {
        // Another thread may have returned the same buffer.
        if (copying.peek() == oldest) {
          give(copying.remove());
        }
        oldest = copying.peek();
      }
    }
  }

  private Buffer allocate() {
    if (!memory.take(size)) {
      throw new RefusedCallException(CudaResult.OUT_OF_MEMORY);
    }
    try (Scratch scratch = new Scratch(16)) {
      int result = device.cuMemHostAlloc(scratch.address(), size, PORTABLE);
      if (result == CudaResult.SUCCESS) {
        // 2 is CU_EVENT_DISABLE_TIMING. Without CU_EVENT_BLOCKING_SYNC, a thread that waits for the
        // event polls.
        result = device.cuEventCreate(scratch.address() + 8, 2);
      }
      if (result != CudaResult.SUCCESS) {
        memory.give(size);
        throw new RefusedCallException(result);
      }
      return new Buffer(Memory.getLong(scratch.address()), Memory.getLong(scratch.address() + 8));
    }
  }

  /**
   * Notes that a copy out of the buffer is queued in {@code stream}; the buffer is free when the
   * copy has finished.
   */
  public int copies(Buffer buffer, long stream) {
    int result = device.cuEventRecord(buffer.event, stream);
    synchronized (this) {
      copying.add(buffer);
      notifyAll();
    }
    return result;
  }

  /**
   * Frees the buffers before their context ends. The driver frees buffers that another thread still
   * sends, together with the context; these count until the session ends.
   */
  synchronized void close() {
    free.addAll(copying);
    copying.clear();
    for (Buffer buffer : free) {
      device.cuMemFreeHost(buffer.address());
      memory.give(size);
    }
    free.clear();
    hasFree = false;
  }

  /** Returns a buffer that no copy uses. */
  public synchronized void give(Buffer buffer) {
    free.push(buffer);
    hasFree = true;
    notifyAll();
  }
}
