package graft.cli.ui;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * What a background thread looks at again and again, as long as somebody wants to know. However
 * many ask, there is one look at a time, and a pause between two. Without anybody who asks, there
 * is none.
 */
final class Refreshed<T> implements AutoCloseable {
  private final Callable<T> look;
  private final Duration pause;
  private final Duration interest;
  private final Thread thread;
  private long askedAt = System.nanoTime();
  private Seen<T> seen = new Seen<>(null, null, null);
  private boolean closed;

  /**
   * The last look.
   *
   * @param value what was seen the last time that a look succeeded; null if none has
   * @param at when; null if none has
   * @param problem why the last look failed; null if it did not
   */
  record Seen<T>(T value, Instant at, String problem) {
    /** How old it is, for JSON. */
    Map<String, Object> tree() {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("at", at == null ? null : at.truncatedTo(ChronoUnit.SECONDS).toString());
      tree.put("ageSeconds", at == null ? null : millisSince(at) / 1000.0);
      tree.put("problem", problem);
      return tree;
    }

    private static long millisSince(Instant at) {
      return Math.max(0, Duration.between(at, Instant.now()).toMillis());
    }
  }

  /**
   * Begins with a look.
   *
   * @param pause between two looks
   * @param interest how long after a question looks go on
   */
  Refreshed(String name, Duration pause, Duration interest, Callable<T> look) {
    this.look = look;
    this.pause = pause;
    this.interest = interest;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** The last look. The question lets looks go on. */
  synchronized Seen<T> get() {
    askedAt = System.nanoTime();
    notifyAll();
    return seen;
  }

  private void run() {
    try {
      while (isWanted()) {
        Seen<T> now = now();
        synchronized (this) {
          seen = now;
        }
        Thread.sleep(pause.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  private Seen<T> now() throws InterruptedException {
    try {
      return new Seen<>(look.call(), Instant.now(), null);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      synchronized (this) {
        String why = e.getMessage() == null ? e.toString() : e.getMessage();
        return new Seen<>(seen.value(), seen.at(), why);
      }
    }
  }

  /** Waits until somebody wants to know; returns whether this is open still. */
  private synchronized boolean isWanted() throws InterruptedException {
    while (!closed && System.nanoTime() - askedAt > interest.toNanos()) {
      wait();
    }
    return !closed;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    thread.interrupt();
  }
}
