package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether the IOMMU group of a device is viable now: every member either has no driver or has one
 * that does no harm. {@link PassthroughPlanner} makes this check in advance, but the group of a
 * virtual function that does not exist yet is unknown.
 */
public final class GroupCheck {
  private GroupCheck() {}

  /**
   * Checks the group.
   *
   * @throws RefusedException if a guest could not have the device
   */
  public static void check(Sysfs files, PciAddress device) {
    Optional<String> group = files.linkName(PciPaths.device(device, "iommu_group"));
    if (group.isEmpty()) {
      throw new RefusedException(IommuProblem.missing(device));
    }
    List<String> others = new ArrayList<>();
    for (String member : files.list("/sys/kernel/iommu_groups/" + group.get() + "/devices")) {
      Optional<PciAddress> address = PciAddress.tryParse(member);
      Optional<String> driver =
          address.flatMap(found -> files.linkName(PciPaths.device(found, "driver")));
      if (driver.isPresent() && !PassthroughPlanner.HARMLESS.contains(driver.get())) {
        others.add(member + " (" + driver.get() + ")");
      }
    }
    if (!others.isEmpty()) {
      throw new RefusedException(
          new Problem(
              device,
              "IOMMU group "
                  + group.get()
                  + " is not viable: the host uses "
                  + String.join(", ", others),
              "Give all of them to one guest, or unbind them"));
    }
  }
}
