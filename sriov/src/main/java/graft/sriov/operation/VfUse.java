package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.Problem;
import graft.sriov.files.Sysfs;
import java.util.List;
import java.util.Optional;

/** Whether a VF may be serving somebody, looked up right before it would be removed. */
final class VfUse {
  /** Under these a guest or a process in user space may have the device at any moment. */
  private static final List<String> PASSTHROUGH = List.of("vfio-pci", "pciback", "xen-pciback");

  private VfUse() {}

  static Optional<Problem> reason(Sysfs files, PciAddress vf) {
    return BindDriver.driver(files, vf)
        .filter(PASSTHROUGH::contains)
        .map(
            driver ->
                new Problem(
                    vf.toString(),
                    "it is bound to "
                        + driver
                        + " ("
                        + Holders.describe(files, vf)
                        + "), and changing the number of VFs would take it away",
                    "Detach it from its guest and give it back to the host first"));
  }
}
