package graft.sriov.host;

import graft.common.values.PciAddress;
import java.util.List;

/**
 * What NVIDIA's driver says about a GPU that it drives, in {@code /proc/driver/nvidia}.
 *
 * @param address where it is
 * @param minor of {@code /dev/nvidiaMINOR}, -1 when the driver does not say
 * @param model as the driver names it
 * @param uuid {@code GPU-...}
 * @param migInstances its MIG instances, {@code gi1/ci0}: what {@code
 *     /proc/driver/nvidia/capabilities} lists; none when MIG is off or has not been divided
 */
public record NvidiaGpu(
    PciAddress address, int minor, String model, String uuid, List<String> migInstances) {
  public NvidiaGpu {
    migInstances = List.copyOf(migInstances);
  }
}
