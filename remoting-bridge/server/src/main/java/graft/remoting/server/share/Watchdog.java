package graft.remoting.server.share;

/**
 * Notices that a session's work has gone on for too long after the session's turn while other
 * guests wanted the GPU. The time is counted from the end of the turn until all of the session's
 * work has finished, without the times when nobody else wanted the GPU. A later turn does not set
 * it back, so that a session gains nothing by queueing more behind work that does not end. Not
 * thread-safe.
 */
final class Watchdog {
  /** Notices nothing. */
  static final Watchdog NONE = new Watchdog(0, () -> {});

  private final long limit;
  private final Runnable expired;
  private long overrun;
  private boolean hasExpired;

  /**
   * A watchdog for one session.
   *
   * @param limit the longest overrun, in nanoseconds; 0 for any
   * @param expired is called once when the overrun is longer; must return soon
   */
  Watchdog(long limit, Runnable expired) {
    this.limit = limit;
    this.expired = expired;
  }

  /** Returns the longest overrun, in nanoseconds; 0 for any. */
  long limit() {
    return limit;
  }

  /** Notes that another server's watchdog for the session has expired. */
  void expire() {
    if (!hasExpired) {
      hasExpired = true;
      expired.run();
    }
  }

  /** Returns whether there is a limit. */
  boolean isSet() {
    return limit > 0;
  }

  /** Returns whether there is work that has gone on after its turn. */
  boolean isRunning() {
    return overrun > 0;
  }

  /** Notes that the session's work has kept other guests waiting, for so many nanoseconds more. */
  void overruns(long nanos) {
    overrun += nanos;
    if (overrun > limit) {
      expire();
    }
  }

  /** Notes that all work of the session has finished. */
  void rests() {
    overrun = 0;
  }
}
