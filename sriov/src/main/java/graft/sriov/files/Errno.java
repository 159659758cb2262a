package graft.sriov.files;

import java.util.Optional;

/** The kernel's errors for writes to a host's files (Linux, errno.h), with the numbers of x86. */
public enum Errno {
  EPERM(1, "Operation not permitted"),
  ENOENT(2, "No such file or directory"),
  EIO(5, "Input/output error"),
  ENXIO(6, "No such device or address"),
  EAGAIN(11, "Resource temporarily unavailable"),
  ENOMEM(12, "Cannot allocate memory"),
  EACCES(13, "Permission denied"),
  EBUSY(16, "Device or resource busy"),
  EEXIST(17, "File exists"),
  ENODEV(19, "No such device"),
  EINVAL(22, "Invalid argument"),
  ENOTTY(25, "Inappropriate ioctl for device"),
  ENOSPC(28, "No space left on device"),
  EROFS(30, "Read-only file system"),
  ERANGE(34, "Numerical result out of range"),
  ENOSYS(38, "Function not implemented"),
  EOPNOTSUPP(95, "Operation not supported"),
  ETIMEDOUT(110, "Connection timed out"),
  /** Every other error. */
  OTHER(0, "Unknown error");

  private final int number;
  private final String text;

  Errno(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** The error's number in Linux on x86-64. */
  public int number() {
    return number;
  }

  /** The text of {@code strerror} in the C locale. */
  public String text() {
    return text;
  }

  public static Errno of(int number) {
    for (Errno errno : values()) {
      if (errno.number == number && errno != OTHER) {
        return errno;
      }
    }
    return OTHER;
  }

  /** The error whose text in the C locale is the end of a message. */
  public static Optional<Errno> endingOf(String message) {
    for (Errno errno : values()) {
      if (message.strip().endsWith(errno.text)) {
        return Optional.of(errno);
      }
    }
    return Optional.empty();
  }
}
