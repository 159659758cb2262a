package graft.guests.connection;

import graft.common.GraftException;

/** A guest connection failed. */
public final class GuestConnectionException extends GraftException {
  private static final long serialVersionUID = 1;

  private final boolean away;

  /**
   * Creates an exception.
   *
   * @param away whether the guest does not answer, so that a retry may succeed
   */
  public GuestConnectionException(String what, String next, boolean away, Throwable cause) {
    super(what, next, cause);
    this.away = away;
  }

  /** Whether the guest does not answer, so that a retry may succeed. */
  public boolean unresponsive() {
    return away;
  }
}
