package graft.common.values;

import java.time.Duration;

/** Measured times in seconds. */
public final class Seconds {
  private Seconds() {}

  /** The time since {@link System#nanoTime} returned {@code start}, to the millisecond. */
  public static double since(long start) {
    return Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0;
  }
}
