package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The reads that are queued on the device and not sent, the oldest first, and how the thread that
 * sends them waits for the next.
 */
final class ReadQueue {
  private static final long PATIENCE_MILLIS = 1;
  private static final long LINGER_MILLIS = 20;

  private final AtomicInteger size = new AtomicInteger();

  @GuardedBy("this")
  private final ArrayDeque<PendingRead> reads = new ArrayDeque<>();

  /** Whether a thread sends what is queued. */
  @GuardedBy("this")
  private boolean hasSender;

  /** Whether that thread waits for a read. */
  @GuardedBy("this")
  private boolean isSenderAsleep;

  /** Whether nothing is queued; without the lock, since every reply asks. */
  boolean isEmpty() {
    return size.get() == 0;
  }

  /** Queues a read; whether the caller has to start a thread that sends it. */
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

  /** The oldest, null if there is none. */
  synchronized PendingRead oldest() {
    return reads.peek();
  }

  /** All, the oldest first. */
  synchronized List<PendingRead> all() {
    return List.copyOf(reads);
  }

  /** The data of a read is out of the session's hands. */
  synchronized void remove(PendingRead read) {
    reads.remove(read);
  }

  /** A read that was removed is over in every other respect too. */
  void finished(PendingRead read) {
    size.decrementAndGet();
    read.sent().countDown();
  }

  /**
   * The oldest read that nobody has sent after a moment: most often the client waits for its stream
   * right away, and the reply to that takes the data along without another thread. Null when there
   * has been none for long: the calling thread is to end.
   */
  synchronized PendingRead awaitOldest() throws InterruptedException {
    PendingRead seen = null;
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
      } else if (oldest.equals(seen) || oldest.onDataConnections()) {
        return oldest;
      } else {
        seen = oldest;
        wait(PATIENCE_MILLIS);
      }
    }
  }
}
