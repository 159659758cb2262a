package graft.remoting.server;

/** A connection that gets no session, with what the client is told. */
final class HandshakeException extends ServerException {
  private static final long serialVersionUID = 1;
  private final HandshakeStatus status;

  HandshakeException(HandshakeStatus status, String message) {
    super(message);
    this.status = status;
  }

  HandshakeStatus status() {
    return status;
  }
}
