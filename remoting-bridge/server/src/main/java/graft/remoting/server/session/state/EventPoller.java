package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls any number of events on one thread, which starts with the first of them. The pauses between
 * the queries grow as long as no event occurs, and with the number of events.
 */
final class EventPoller {
  private static final Logger LOG = LoggerFactory.getLogger(EventPoller.class);
  private static final long SHORTEST_PAUSE_NANOS = 20_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  /** How many times longer a pause is than the queries before it, whatever their number. */
  private static final int REST = 4;

  private final CudaDevice device;
  private final ThreadFactory threads;
  private final ConcurrentLinkedQueue<Pending> arrived = new ConcurrentLinkedQueue<>();

  @GuardedBy("this")
  private Thread thread;

  /** The context that is current to the thread; only the thread uses this. */
  private SessionContext current;

  /**
   * An event, and what follows it.
   *
   * @param event the event; 0 for what is to happen at once
   */
  private record Pending(SessionContext context, long event, IntConsumer done) {}

  EventPoller(CudaDevice device, ThreadFactory threads) {
    this.device = device;
    this.threads = threads;
  }

  /** Polls an event, and passes its result to {@code done}, which must not wait for the device. */
  void add(SessionContext context, long event, IntConsumer done) {
    add(new Pending(context, event, done));
  }

  /** Runs a task at once. */
  void add(SessionContext context, Runnable task) {
    add(new Pending(context, 0, result -> task.run()));
  }

  private void add(Pending pending) {
    arrived.add(pending);
    LockSupport.unpark(running());
  }

  private synchronized Thread running() {
    if (thread == null) {
      thread = threads.newThread(this::run);
      thread.start();
    }
    return thread;
  }

  private void run() {
    Waiters.relaxCapture(device);
    List<Pending> waiting = new ArrayList<>();
    long pause = SHORTEST_PAUSE_NANOS;
    while (true) {
      boolean somethingHappened = !arrived.isEmpty();
      for (Pending next = arrived.poll(); next != null; next = arrived.poll()) {
        waiting.add(next);
      }
      long began = System.nanoTime();
      somethingHappened |= finishThoseThatOccurred(waiting);
      long took = System.nanoTime() - began;
      if (waiting.isEmpty()) {
        if (arrived.isEmpty()) {
          LockSupport.park(this);
        }
      } else if (somethingHappened) {
        pause = SHORTEST_PAUSE_NANOS;
      } else {
        LockSupport.parkNanos(this, Math.max(pause, REST * took));
        pause = Math.min(LONGEST_PAUSE_NANOS, pause + pause / 4);
      }
    }
  }

  /** Removes the events that have occurred. Returns whether there was one. */
  private boolean finishThoseThatOccurred(List<Pending> waiting) {
    return waiting.removeIf(
        pending -> {
          int result = query(pending);
          if (result != CudaResult.NOT_READY) {
            finish(pending, result);
          }
          return result != CudaResult.NOT_READY;
        });
  }

  private int query(Pending pending) {
    enter(pending.context());
    if (pending.event() == 0) {
      return CudaResult.SUCCESS;
    }
    int result = device.cuEventQuery(pending.event());
    // Only a synchronization makes the driver print the output of kernels' printf.
    return result == CudaResult.SUCCESS ? device.cuEventSynchronize(pending.event()) : result;
  }

  private void enter(SessionContext context) {
    if (current != context) {
      context.enter(device);
      current = context;
    }
  }

  private void finish(Pending pending, int result) {
    enter(pending.context());
    try {
      pending.done().accept(result);
    } catch (RuntimeException e) {
      LOG.warn("after a wait: {}", e.toString());
    }
  }
}
