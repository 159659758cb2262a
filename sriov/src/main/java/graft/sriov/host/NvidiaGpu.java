package graft.sriov.host;

import graft.common.values.PciAddress;
import java.util.List;

/**
 * What {@code /proc/driver/nvidia} shows of a GPU that is bound to NVIDIA's driver.
 *
 * @param address the GPU's PCI address
 * @param minor the number in {@code /dev/nvidiaMINOR}, -1 if the driver does not show it
 * @param model the driver's name of the model
 * @param uuid {@code GPU-...}
 * @param migInstances the MIG instances, {@code gi1/ci0}, that {@code
 *     /proc/driver/nvidia/capabilities} lists; none if MIG is off or the GPU was not divided
 */
public record NvidiaGpu(
    PciAddress address, int minor, String model, String uuid, List<String> migInstances) {
  public NvidiaGpu {
    migInstances = List.copyOf(migInstances);
  }
}
