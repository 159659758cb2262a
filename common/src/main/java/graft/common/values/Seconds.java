package graft.common.values;

import java.time.Duration;

/** Times that are measured, in seconds. */
public final class Seconds {
  private Seconds() {}

  /** Since {@link System#nanoTime} was {@code start}, to the millisecond. */
  public static double since(long start) {
    return Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0;
  }
}
