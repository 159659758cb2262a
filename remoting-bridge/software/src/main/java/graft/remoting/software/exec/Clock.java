package graft.remoting.software.exec;

import java.util.concurrent.locks.LockSupport;

/** Clocks of the device. One tick of %clock is a nanosecond, as on a device of 1 GHz. */
public final class Clock {
  private static final int SHORTEST_PAUSE = 1_000;
  private static final int LONGEST_PAUSE = 50_000;

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

  /**
   * Suspends the thread for at most twice this many nanoseconds, or not at all (PTX ISA,
   * "nanosleep"). All threads of a block share one Java thread, so that a pause of one pauses all.
   * When several threads sleep one after the other, only the first of them pauses.
   */
  public static void nanosleep(ThreadBlock b, int thread, int nanoseconds) {
    int pause = nanoseconds < 0 ? LONGEST_PAUSE : Math.min(nanoseconds, LONGEST_PAUSE);
    boolean pausedForAnother =
        thread != b.lastSleeper && System.nanoTime() - b.lastSleepEnd < LONGEST_PAUSE;
    if (pause < SHORTEST_PAUSE || pausedForAnother) {
      Thread.onSpinWait();
      return;
    }
    LockSupport.parkNanos(pause);
    b.lastSleeper = thread;
    b.lastSleepEnd = System.nanoTime();
  }
}
