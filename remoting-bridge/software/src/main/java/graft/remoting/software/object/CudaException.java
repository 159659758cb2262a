package graft.remoting.software.object;

/** Ends a driver call with a CUresult. Programs get the code, and the log gets the message. */
public final class CudaException extends RuntimeException {
  private final int code;

  public CudaException(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  public int code() {
    return code;
  }
}
