package graft.common;

/** An operation failed. The message states what was tried, on what, and what to do next. */
public class GraftException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String next;

  /**
   * Creates an exception.
   *
   * @param what what was tried, on what, and how it failed
   * @param next what to do next; may be empty
   */
  public GraftException(String what, String next) {
    this(what, next, null);
  }

  /** Creates an exception with its cause. */
  public GraftException(String what, String next, Throwable cause) {
    super(next.isEmpty() ? what : what + "\n  " + next, cause);
    this.next = next;
  }

  /** The user's next action; may be empty. */
  public String next() {
    return next;
  }
}
