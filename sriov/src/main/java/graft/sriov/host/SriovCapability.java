package graft.sriov.host;

import graft.common.values.PciAddress;
import java.util.List;

/**
 * The SR-IOV attributes of a physical function (Linux, Documentation/ABI/testing/sysfs-bus-pci:
 * {@code sriov_*}).
 *
 * @param totalVfs the number of VFs that the firmware allows; 0 if it allows none
 * @param numVfs the present number of VFs
 * @param offset the routing identifier of VF 0 minus that of the PF
 * @param stride the difference between the routing identifiers of two consecutive VFs
 * @param autoprobe whether the kernel looks for a driver when a VF appears
 * @param vfs the VFs in the order of their index, from the {@code virtfnN} links
 */
public record SriovCapability(
    int totalVfs, int numVfs, int offset, int stride, boolean autoprobe, List<PciAddress> vfs) {
  public SriovCapability {
    vfs = List.copyOf(vfs);
  }

  /** The address that VF {@code index} of the PF has or will have (PCI-SIG, SR-IOV 1.1, 2.1.2). */
  public PciAddress vfAddress(PciAddress pf, int index) {
    return index < vfs.size() ? vfs.get(index) : pf.plus(offset + stride * index);
  }
}
