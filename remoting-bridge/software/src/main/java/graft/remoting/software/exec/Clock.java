package graft.remoting.software.exec;

import java.util.concurrent.locks.LockSupport;

/** Clocks of the device: one tick of %clock is a nanosecond, as of a device of 1 GHz. */
public final class Clock {
  private Clock() {}

  public static int clock() {
    return (int) System.nanoTime();
  }

  public static int clockHigh() {
    return (int) (System.nanoTime() >>> 32);
  }

  public static long clock64() {
    return System.nanoTime();
  }

  public static long globalTimer() {
    return System.nanoTime();
  }

  public static int globalTimerLow() {
    return (int) System.nanoTime();
  }

  public static int globalTimerHigh() {
    return (int) (System.nanoTime() >>> 32);
  }

  /** Suspends the thread for about this many nanoseconds; at most a millisecond, as on a device. */
  public static void nanosleep(int nanoseconds) {
    int capped = nanoseconds < 0 || nanoseconds > 1_000_000 ? 1_000_000 : nanoseconds;
    if (capped > 1000) {
      // All threads of the block share one Java thread: a short pause serves them all.
      LockSupport.parkNanos(Math.min(capped, 50_000));
    } else {
      Thread.onSpinWait();
    }
  }
}
