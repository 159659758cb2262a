package graft.remoting.server.system;

/**
 * Thrown when the server cannot do what it was asked to do. The message says what was tried, on
 * what, and what to do next.
 */
public class ServerException extends Exception {
  private static final long serialVersionUID = 1;

  /** Says what failed, on what, and what to do about it. */
  public ServerException(String message) {
    super(message);
  }

  /** As above, with the underlying failure. */
  public ServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
