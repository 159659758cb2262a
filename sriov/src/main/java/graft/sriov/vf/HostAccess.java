package graft.sriov.vf;

import graft.sriov.files.RootFolder;
import graft.sriov.files.Sysfs;
import graft.sriov.netlink.RtNetlink;
import graft.sriov.netlink.VfLinks;

/**
 * Access to a host for reading and changing it.
 *
 * @param files the host's files
 * @param links the host's network interfaces
 * @param limits the time limits of changes
 */
public record HostAccess(Sysfs files, VfLinks links, TimeLimits limits) {
  /** The host that this process runs on. */
  public static HostAccess thisHost() {
    TimeLimits limits = TimeLimits.DEFAULT;
    return new HostAccess(RootFolder.thisHost(), new RtNetlink(limits.attribute()), limits);
  }
}
