package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/** Work of a stream that runs when the tasks before it have ended. */
public final class Task {
  private final Runnable body;
  private final Executor executor;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final List<Task> successors = new ArrayList<>();
  private int missing = 1;
  private boolean done;
  private volatile long endNanos;

  public Task(Runnable body, Executor executor) {
    this.body = body;
    this.executor = executor;
  }

  /** A task that has ended. */
  public static Task ended() {
    Task task = new Task(() -> {}, Runnable::run);
    task.start(List.of());
    return task;
  }

  /** Lets the task run once all tasks of {@code before} have ended; null elements are ignored. */
  public void start(Collection<Task> before) {
    for (Task t : before) {
      if (t != null) {
        // Counted first: t may end, and count down, as soon as it knows of this task.
        countOneMore();
        if (!t.addSuccessor(this)) {
          isReadyAfterOneMore();
        }
      }
    }
    if (isReadyAfterOneMore()) {
      executor.execute(this::run);
    }
  }

  private synchronized boolean addSuccessor(Task next) {
    if (!done) {
      successors.add(next);
    }
    return !done;
  }

  private synchronized void countOneMore() {
    missing++;
  }

  private synchronized boolean isReadyAfterOneMore() {
    return --missing == 0;
  }

  /** Runs this task and then, on the same thread, the successors that have become ready. */
  private void run() {
    Task next = this;
    while (next != null) {
      next.body.run();
      next = next.finish();
    }
  }

  private Task finish() {
    List<Task> after;
    endNanos = System.nanoTime();
    synchronized (this) {
      done = true;
      after = List.copyOf(successors);
      successors.clear();
    }
    ended.countDown();
    Task mine = null;
    for (Task t : after) {
      if (t.isReadyAfterOneMore()) {
        if (mine == null) {
          mine = t;
        } else {
          t.executor.execute(t::run);
        }
      }
    }
    return mine;
  }

  public synchronized boolean isDone() {
    return done;
  }

  /** Returns the {@link System#nanoTime} at which the task ended; valid only after that. */
  public long endNanos() {
    return endNanos;
  }

  public void await() {
    boolean interrupted = false;
    while (true) {
      try {
        ended.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
