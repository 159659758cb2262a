package graft.sriov;

/**
 * An operation on the host failed. Every message states what was tried, on what, why the operation
 * failed and what to do next.
 */
public class HostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String subject;
  private final String next;

  /**
   * Creates an exception.
   *
   * @param tried what was tried and how it failed, in one sentence without a full stop
   * @param subject the object of the operation: a PCI address, an interface, a file
   * @param next what the operator can do about the failure, in one sentence without a full stop
   */
  public HostException(String tried, String subject, String next) {
    this(tried, subject, next, null);
  }

  public HostException(String tried, String subject, String next, Throwable cause) {
    super(subject + ": " + tried + ". " + next + ".", cause);
    this.subject = subject;
    this.next = next;
  }

  /** The object of the operation. */
  public String subject() {
    return subject;
  }

  /** What to do about the failure. */
  public String next() {
    return next;
  }
}
