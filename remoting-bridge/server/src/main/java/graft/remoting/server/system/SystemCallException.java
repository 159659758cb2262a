package graft.remoting.server.system;

import java.io.IOException;

/**
 * A call to the operating system failed. The message says what was tried, on what, and the system's
 * answer.
 */
public final class SystemCallException extends IOException {
  private static final long serialVersionUID = 1;
  private final int errno;

  SystemCallException(String what, int errno, String answer) {
    super(what + ": " + answer + " (errno " + errno + ")");
    this.errno = errno;
  }

  /** The system's error number. */
  public int errno() {
    return errno;
  }
}
