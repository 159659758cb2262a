package graft.sriov.operation;

import java.time.Duration;

/** Waits in small steps for something that sysfs does not announce. */
public final class Deadline {
  private static final Duration STEP = Duration.ofMillis(20);

  private final long end;

  private Deadline(long end) {
    this.end = end;
  }

  public static Deadline after(Duration limit) {
    return new Deadline(System.nanoTime() + limit.toNanos());
  }

  /** One step of waiting; false, without it, when the time is over or the thread is to end. */
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
