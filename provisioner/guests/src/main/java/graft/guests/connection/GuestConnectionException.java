package graft.guests.connection;

import graft.common.GraftException;

/** A guest connection failed. */
public final class GuestConnectionException extends GraftException {
  private static final long serialVersionUID = 1;

  private final boolean away;
  private final boolean late;

  /**
   * Creates an exception.
   *
   * @param away whether the guest does not answer, so that a retry may succeed
   */
  public GuestConnectionException(String what, String next, boolean away, Throwable cause) {
    this(what, next, away, false, cause);
  }

  private GuestConnectionException(
      String what, String next, boolean away, boolean late, Throwable cause) {
    super(what, next, cause);
    this.away = away;
    this.late = late;
  }

  /** What was run in the guest did not end in time. */
  public static GuestConnectionException late(String what, String next, Throwable cause) {
    return new GuestConnectionException(what, next, false, true, cause);
  }

  /** Whether what was run in the guest did not end in time; in a busy guest it may later. */
  public boolean late() {
    return late;
  }

  /** Whether the guest does not answer, so that a retry may succeed. */
  public boolean unresponsive() {
    return away;
  }
}
