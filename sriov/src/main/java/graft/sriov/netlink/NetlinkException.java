package graft.sriov.netlink;

import graft.sriov.HostException;
import graft.sriov.files.Errno;

/** The kernel rejected a netlink request. */
public class NetlinkException extends HostException {
  private static final long serialVersionUID = 1;

  private final Errno errno;

  public NetlinkException(String tried, String link, Errno errno, int number) {
    super(tried + " failed with " + errno + " (error " + number + ")", link, advice(errno));
    this.errno = errno;
  }

  public Errno errno() {
    return errno;
  }

  private static String advice(Errno errno) {
    return switch (errno) {
      case EPERM, EACCES -> "Run as root in the host's own network namespace";
      case EOPNOTSUPP ->
          "The interface's driver has no such setting: GUIDs need the PF's IPoIB interface,"
              + " MAC, trust and rate its Ethernet interface";
      case EINVAL -> "Look whether the VF exists: its index counts from 0";
      case ENODEV -> "The interface is gone: look whether the PF's driver is still loaded";
      default -> "Look at the kernel's log (dmesg)";
    };
  }
}
