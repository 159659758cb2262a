package graft.remoting.server.session.state;

/**
 * How many calls {@link GpuMeter} queues before a marker while other guests want the device, by how
 * long the work before the last markers took. Guarded by the meter, but for {@link #calls}.
 */
final class WorkPace {
  /** How long the work before a marker should take. */
  private static final long BATCH_NANOS = 40_000;

  /** The largest number of calls before a marker. */
  private static final int MOST_CALLS = 256;

  private volatile int calls = 1;
  private boolean isLong;

  /** Returns how many calls are queued before a marker. Any thread may ask. */
  int calls() {
    return calls;
  }

  /** Returns whether a single call takes longer than the work before a marker should. */
  boolean isLong() {
    return isLong;
  }

  /**
   * Adapts to the work before a marker.
   *
   * @param took how long it took, in nanoseconds
   */
  void adapt(long took) {
    isLong = calls == 1 && took > 2 * BATCH_NANOS;
    if (took < BATCH_NANOS / 2) {
      calls = Math.min(MOST_CALLS, 2 * calls);
    } else if (took > 2 * BATCH_NANOS) {
      calls = Math.max(1, calls / 2);
    }
  }
}
