package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The reads that are queued on the device and not yet sent, oldest first, and the wait of the
 * sending thread for the next read.
 */
final class ReadQueue {
  private static final long PATIENCE_NANOS = 1_000_000;
  private static final long LINGER_MILLIS = 20;

  private final AtomicInteger size = new AtomicInteger();

  @GuardedBy("this")
  private final ArrayDeque<PendingRead> reads = new ArrayDeque<>();

  /** Whether a thread sends the queued reads. */
  @GuardedBy("this")
  private boolean hasSender;

  /** Whether that thread is waiting for a read. */
  @GuardedBy("this")
  private boolean isSenderAsleep;

  /** Returns whether nothing is queued. Does not take the lock, because every reply asks. */
  boolean isEmpty() {
    return size.get() == 0;
  }

  /** Queues a read. Returns whether the caller has to start the sending thread. */
  boolean add(PendingRead read) {
    size.incrementAndGet();
    synchronized (this) {
      reads.add(read);
      if (!hasSender) {
        hasSender = true;
        return true;
      }
      if (isSenderAsleep) {
        notifyAll();
      }
      return false;
    }
  }

  /** Returns the oldest read, null if there is none. */
  synchronized PendingRead oldest() {
    return reads.peek();
  }

  /** Returns all reads, oldest first. */
  synchronized List<PendingRead> all() {
    return List.copyOf(reads);
  }

  /** Removes a read whose data has been handed over. */
  synchronized void remove(PendingRead read) {
    reads.remove(read);
  }

  /** Notes that a removed read is finished in every other respect as well. */
  void finished(PendingRead read) {
    size.decrementAndGet();
    read.sent().countDown();
  }

  /**
   * Returns the oldest read that has been in the queue for a moment: a client usually waits for its
   * stream immediately, and the reply to that wait sends the data without another thread. Returns
   * null if the queue has been empty for long; the calling thread then ends.
   */
  synchronized PendingRead awaitOldest() throws InterruptedException {
    while (true) {
      PendingRead oldest = reads.peek();
      if (oldest == null) {
        isSenderAsleep = true;
        wait(LINGER_MILLIS);
        isSenderAsleep = false;
        if (reads.isEmpty()) {
          hasSender = false;
          return null;
        }
        continue;
      }
      long left = oldest.queued() + PATIENCE_NANOS - System.nanoTime();
      if (oldest.onDataConnections() || left <= 0) {
        return oldest;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
  }
}
