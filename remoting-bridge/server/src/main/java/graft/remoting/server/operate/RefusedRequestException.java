package graft.remoting.server.operate;

/** A request of an operator that the server does not carry out; the message is the answer. */
public final class RefusedRequestException extends Exception {
  private static final long serialVersionUID = 1;

  RefusedRequestException(String message) {
    super(message);
  }
}
