package graft.remoting.server;

/**
 * An id from the client that names no object of its kind: the call's answer is
 * CUDA_ERROR_INVALID_HANDLE. Carries no stack, since a program may do it often and it is no fault
 * of ours.
 */
public final class InvalidHandleException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidHandleException(String kind, int id) {
    super(
        "the client has made no " + kind + " " + Integer.toUnsignedString(id), null, false, false);
  }
}
