package graft.sriov.host;

import graft.common.values.PciAddress;
import java.util.List;

/**
 * What a physical function says about its virtual functions (Linux,
 * Documentation/ABI/testing/sysfs-bus-pci: {@code sriov_*}).
 *
 * @param totalVfs how many the firmware allows; 0 when it allows none
 * @param numVfs how many there are
 * @param offset routing identifier of VF 0 less that of the PF
 * @param stride the distance between two VFs' routing identifiers
 * @param autoprobe whether the kernel looks for a driver when a VF appears
 * @param vfs the VFs in the order of their index, from the {@code virtfnN} links
 */
public record SriovCapability(
    int totalVfs, int numVfs, int offset, int stride, boolean autoprobe, List<PciAddress> vfs) {
  public SriovCapability {
    vfs = List.copyOf(vfs);
  }

  /** Where VF {@code index} of the PF is or will be (PCI-SIG, SR-IOV 1.1, 2.1.2). */
  public PciAddress vfAddress(PciAddress pf, int index) {
    return index < vfs.size() ? vfs.get(index) : pf.plus(offset + stride * index);
  }
}
