package graft.remoting.server.protocol;

/** A client sent what the protocol does not allow: its connection ends, nothing else does. */
public final class ProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What was sent and what would have been right. */
  public ProtocolException(String message) {
    super(message);
  }
}
