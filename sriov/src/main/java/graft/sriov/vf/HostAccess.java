package graft.sriov.vf;

import graft.sriov.files.RootFolder;
import graft.sriov.files.Sysfs;
import graft.sriov.netlink.RtNetlink;
import graft.sriov.netlink.VfLinks;

/**
 * The ways to a host: what reads it and what changes it.
 *
 * @param files its files
 * @param links its network interfaces
 * @param limits how long a change may take
 */
public record HostAccess(Sysfs files, VfLinks links, TimeLimits limits) {
  /** The host that this runs on. */
  public static HostAccess thisHost() {
    TimeLimits limits = TimeLimits.DEFAULT;
    return new HostAccess(RootFolder.thisHost(), new RtNetlink(limits.attribute()), limits);
  }
}
