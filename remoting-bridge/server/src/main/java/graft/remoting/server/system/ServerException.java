package graft.remoting.server.system;

/**
 * The server cannot do what it was asked to. The message says what was tried, on what, and what to
 * do next.
 */
public class ServerException extends Exception {
  private static final long serialVersionUID = 1;

  /** What failed, on what, and what to do about it. */
  public ServerException(String message) {
    super(message);
  }

  /** The same with the failure underneath. */
  public ServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
