package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.ServerException;

/** Thrown if a connection gets no session. The message is the reason that the client gets. */
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
