package graft.remoting.server.session.call;

/**
 * Ends a call before it gets to the device, because of what its record names. The client gets a
 * CUresult. The exception carries no stack trace: a program may cause it often, and it is no fault
 * of the server.
 */
public final class RefusedCallException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int result;

  public RefusedCallException(int result) {
    super("CUresult " + result, null, false, false);
    this.result = result;
  }

  /** Returns the CUresult. */
  public int result() {
    return result;
  }
}
