package graft.remoting.server.protocol;

/** The status in CHALLENGE and WELCOME. */
public enum HandshakeStatus {
  OK(0),
  WRONG_VERSION(1),
  WRONG_API(2),
  REFUSED(3),
  NO_WORKER(4),
  BUSY(5),
  NO_SESSION(6),
  MALFORMED(7),
  NO_CHANNEL(8),
  NO_CERTIFICATES(9),

  /** The client waits for a place: another WELCOME follows. */
  WAITING(10);

  private final int code;

  HandshakeStatus(int code) {
    this.code = code;
  }

  /** Returns the number on the wire. */
  public int code() {
    return code;
  }
}
