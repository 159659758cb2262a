package graft.remoting.server.session.call;

/**
 * A call that does not get to the device, because of what the client named: the answer is a
 * CUresult. Carries no stack, since a program may do it often and it is no fault of ours.
 */
public final class RefusedCallException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int result;

  public RefusedCallException(int result) {
    super("CUresult " + result, null, false, false);
    this.result = result;
  }

  /** The CUresult. */
  public int result() {
    return result;
  }
}
