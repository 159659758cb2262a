package graft.remoting.server.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether a session is idle: its client has made no call for a time, and the device has no
 * work of the session at the end of that time. Whether there is work is known only by waiting for
 * it, on a thread of its own. Work that takes a while makes the time begin again when the work is
 * over. Only the watching thread uses this object.
 */
final class IdleTimer {
  /** A wait that takes no longer has found no work. */
  private static final long PROMPT_NANOS = 500_000_000;

  private final long seconds;
  private final long limitNanos;
  private final LongSupplier clock;
  private long activity = -1;
  private long since;
  private Wait wait;

  /** A wait for the session's work. */
  private static final class Wait {
    private final long began;
    private volatile boolean isOver;
    private volatile long ended;

    private Wait(long began) {
      this.began = began;
    }

    void run(Runnable finishWork, LongSupplier clock) {
      finishWork.run();
      ended = clock.getAsLong();
      isOver = true;
    }
  }

  /**
   * Creates a timer.
   *
   * @param seconds the time after which the session is idle, 0 for never
   */
  IdleTimer(long seconds) {
    this(seconds, System::nanoTime);
  }

  IdleTimer(long seconds, LongSupplier clock) {
    this.clock = clock;
    this.seconds = seconds;
    this.limitNanos = TimeUnit.SECONDS.toNanos(seconds);
  }

  /**
   * Returns whether the session has been idle for as long as it may. Called about once a second.
   *
   * @param now a number that changes whenever the client does something
   * @param finishWork waits until the device has finished the session's work
   */
  boolean isOver(long now, Runnable finishWork) {
    if (limitNanos == 0) {
      return false;
    }
    if (now != activity) {
      activity = now;
      since = clock.getAsLong();
    }
    if (wait == null) {
      if (clock.getAsLong() - since >= limitNanos) {
        wait = new Wait(clock.getAsLong());
        Wait begun = wait;
        Thread thread =
            new Thread(null, () -> begun.run(finishWork, clock), "graft-idle", 128 * 1024);
        thread.setDaemon(true);
        thread.start();
      }
      return false;
    }
    if (!wait.isOver) {
      return false; // the device still works
    }
    long ended = wait.ended;
    boolean foundNone = ended - wait.began <= PROMPT_NANOS;
    boolean isStillQuiet = wait.began - since >= limitNanos;
    if (!foundNone && isStillQuiet) {
      since = ended;
    }
    wait = null;
    return foundNone && isStillQuiet;
  }

  /** Returns why the session ends. */
  String reason() {
    return "it was idle for " + seconds + " s, the limit that the operator has set";
  }
}
