package graft.sriov.files;

import graft.sriov.HostException;

/** The kernel rejected a write. */
public class WriteFailedException extends HostException {
  private static final long serialVersionUID = 1;

  private final Errno errno;

  public WriteFailedException(String path, String value, Errno errno, String detail) {
    super(
        "writing '" + value + "' failed with " + errno + " (" + detail + ")", path, advice(errno));
    this.errno = errno;
  }

  public WriteFailedException(String path, String value, Errno errno) {
    this(path, value, errno, errno.text());
  }

  /** The kernel's error. */
  public Errno errno() {
    return errno;
  }

  private static String advice(Errno errno) {
    return switch (errno) {
      case EACCES, EPERM, EROFS -> "Run as root on the host itself, not in a container";
      case ENOENT -> "Look whether the driver is loaded and the device still there";
      case EBUSY -> "Something holds the device: free it, then try again";
      case ENODEV -> "The driver did not take the device: look at the kernel's log (dmesg)";
      case ENOMEM ->
          "Look at the kernel's log (dmesg): often the BIOS gave the VFs no memory space";
      default -> "Look at the kernel's log (dmesg)";
    };
  }
}
