package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.Problem;

/** The problem of a host that does not use an IOMMU. */
final class IommuProblem {
  private IommuProblem() {}

  static Problem missing(PciAddress device) {
    return new Problem(
        device,
        "the host has no IOMMU in use, without which no guest can have a device of its own",
        "Turn VT-d or AMD-Vi on in the BIOS and boot with intel_iommu=on iommu=pt (Intel) or"
            + " iommu=pt (AMD) on the kernel's command line");
  }
}
