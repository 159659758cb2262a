package graft.sriov.operation;

import java.time.Duration;

/** Polls in small steps for a state that sysfs does not announce. */
public final class Deadline {
  private static final Duration STEP = Duration.ofMillis(20);

  private final long end;

  private Deadline(long end) {
    this.end = end;
  }

  public static Deadline after(Duration limit) {
    return new Deadline(System.nanoTime() + limit.toNanos());
  }

  /**
   * Sleeps for one step. Returns false without sleeping if the time limit has passed or the thread
   * was interrupted.
   */
  public boolean sleep() {
    if (System.nanoTime() - end >= 0) {
      return false;
    }
    try {
      Thread.sleep(STEP.toMillis());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
