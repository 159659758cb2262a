package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The memory that asynchronous reads fill. Once much of it is in use, the executor waits, but only
 * as long as memory keeps being released: a client that is itself busy sending reads nothing, and
 * waiting for it would block both ends.
 */
final class ReadMemory {
  /** Beyond this many bytes in use, the pool may have to allocate new memory for each read. */
  private static final long ENOUGH = 64 << 20;

  private static final long STALL_MILLIS = 20;

  @GuardedBy("this")
  private long held;

  /** Whether no memory was released while the executor last waited. */
  @GuardedBy("this")
  private boolean isStalled;

  /** Allocates memory for a read, and waits for a moment if much is in use. */
  long allocate(PinnedPool pool, long bytes) {
    awaitRoom(bytes);
    return pool.take(bytes);
  }

  private synchronized void awaitRoom(long bytes) {
    while (held + bytes > ENOUGH && !isStalled) {
      isStalled = true; // cleared by the next release
      try {
        wait(STALL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("nothing interrupts the threads of a session", e);
      }
    }
  }

  /** Returns memory for which no copy was queued. */
  void cancel(PinnedPool pool, long address, long bytes) {
    pool.give(address, bytes);
  }

  /** Counts memory as in use once a copy to it is queued. */
  synchronized void count(long bytes) {
    held += bytes;
  }

  /** Returns memory whose data has been sent. */
  void release(PinnedPool pool, long address, long bytes) {
    pool.give(address, bytes);
    synchronized (this) {
      held -= bytes;
      isStalled = false;
      notifyAll();
    }
  }
}
