package graft.remoting.server.system;

import java.io.IOException;

/**
 * Thrown when a system call fails. The message says what was tried, on what, and the system's
 * error.
 */
public final class SystemCallException extends IOException {
  private static final long serialVersionUID = 1;
  private final int errno;

  SystemCallException(String what, int errno, String answer) {
    super(what + ": " + answer + " (errno " + errno + ")");
    this.errno = errno;
  }

  /** Returns the errno. */
  public int errno() {
    return errno;
  }
}
