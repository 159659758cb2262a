package graft.remoting.server.protocol;

/**
 * Thrown when a client sends what the protocol does not allow. It ends that client's connection and
 * nothing else.
 */
public final class ProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Says what was sent, and what would have been valid. */
  public ProtocolException(String message) {
    super(message);
  }
}
