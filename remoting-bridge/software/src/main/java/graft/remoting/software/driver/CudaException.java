package graft.remoting.software.driver;

/** Ends a driver call with a CUresult; programs see the code, the log the message. */
final class CudaException extends RuntimeException {
  private final int code;

  CudaException(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  int code() {
    return code;
  }
}
