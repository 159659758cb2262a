package graft.remoting.server.control;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The bytes that may be written to the server's log on behalf of one guest: some at once, and then
 * a number each second. All workers of a guest share one budget, since a guest could otherwise fill
 * the host's disk by starting sessions. Thread-safe.
 */
public final class LogBudget {
  private static final long BURST = 64 << 10;
  private static final long RATE = 512;

  @GuardedBy("this")
  private long allowance = BURST;

  @GuardedBy("this")
  private long counted = System.nanoTime();

  /** Spends bytes. Returns false, and spends nothing, if the budget does not allow it. */
  synchronized boolean spend(long bytes) {
    earn();
    if (bytes > allowance) {
      return false;
    }
    allowance -= bytes;
    return true;
  }

  /** Returns whether nothing has been spent recently, so that a new budget would be the same. */
  public synchronized boolean isFull() {
    earn();
    return allowance == BURST;
  }

  @GuardedBy("this")
  private void earn() {
    long now = System.nanoTime();
    long earned = (now - counted) * RATE / 1_000_000_000L;
    if (earned > 0) {
      allowance = Math.min(BURST, allowance + earned);
      counted = now;
    }
  }
}
