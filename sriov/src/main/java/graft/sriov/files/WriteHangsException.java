package graft.sriov.files;

import graft.sriov.HostException;
import java.time.Duration;

/**
 * A write has not returned within its time limit. The write may still take effect later. Until then
 * the kernel may hold the device's lock, so that further writes to the device hang as well.
 */
public class WriteHangsException extends HostException {
  private static final long serialVersionUID = 1;

  private final String path;
  private final String value;

  /**
   * Creates an exception.
   *
   * @param where a description of where the write waits in the kernel; may be empty
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

  /** The same exception with the device's name and the processes that hold the device. */
  public WriteHangsException on(String subject, String holders) {
    return new WriteHangsException(this, subject, holders);
  }

  public String path() {
    return path;
  }
}
