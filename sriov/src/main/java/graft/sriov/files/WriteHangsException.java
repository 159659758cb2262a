package graft.sriov.files;

import graft.sriov.HostException;
import java.time.Duration;

/**
 * The kernel has not answered a write in time. The write is not undone by that: it may still take
 * effect, and until then the kernel may hold the device's lock, so that further writes to the
 * device hang as well.
 */
public class WriteHangsException extends HostException {
  private static final long serialVersionUID = 1;

  private final String path;
  private final String value;

  /**
   * Makes the error.
   *
   * @param where what is known about where the kernel waits; may be empty
   */
  public WriteHangsException(String path, String value, Duration limit, String where) {
    super(
        "writing '"
            + value
            + "' has not come back after "
            + limit.toMillis()
            + " ms"
            + (where.isEmpty() ? "" : ", " + where),
        path,
        "Find out which process holds the device and stop it; if nothing does, the host needs a reboot");
    this.path = path;
    this.value = value;
  }

  private WriteHangsException(WriteHangsException origin, String subject, String holders) {
    super(
        "writing '" + origin.value + "' to " + origin.path + " hangs; " + holders,
        subject,
        origin.next(),
        origin);
    this.path = origin.path;
    this.value = origin.value;
  }

  /** The same with the device's name and what holds it. */
  public WriteHangsException on(String subject, String holders) {
    return new WriteHangsException(this, subject, holders);
  }

  public String path() {
    return path;
  }
}
