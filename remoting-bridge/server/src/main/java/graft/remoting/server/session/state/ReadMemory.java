package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The memory that reads fill which the client does not wait for. Once much of it is in use the
 * executor waits, but only as long as some of it is released: a client that is itself busy sending
 * takes nothing.
 */
final class ReadMemory {
  /** More than this may cost new memory each time. */
  private static final long ENOUGH = 64 << 20;

  private static final long STALL_MILLIS = 20;

  private final PinnedPool pool;

  @GuardedBy("this")
  private long held;

  /** Whether nothing was released since the executor waited for it. */
  @GuardedBy("this")
  private boolean isStalled;

  ReadMemory(PinnedPool pool) {
    this.pool = pool;
  }

  /** Memory for a read; waits for a moment if much is in use. */
  long allocate(long bytes) {
    awaitRoom(bytes);
    return pool.take(bytes);
  }

  private synchronized void awaitRoom(long bytes) {
    while (held + bytes > ENOUGH && !isStalled) {
      isStalled = true; // until something is released
      try {
        wait(STALL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("nothing interrupts the threads of a session", e);
      }
    }
  }

  /** Returns memory for which no copy was queued. */
  void cancel(long address, long bytes) {
    pool.give(address, bytes);
  }

  /** A copy to the memory is queued: it counts as in use. */
  synchronized void count(long bytes) {
    held += bytes;
  }

  /** Returns memory that has been sent. */
  void release(long address, long bytes) {
    pool.give(address, bytes);
    synchronized (this) {
      held -= bytes;
      isStalled = false;
      notifyAll();
    }
  }
}
