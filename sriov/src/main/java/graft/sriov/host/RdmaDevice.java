package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of a PCI function (Linux, Documentation/ABI/stable/sysfs-class-infiniband).
 *
 * @param name such as {@code mlx5_0}
 * @param address the device's PCI function
 * @param nodeGuid empty if the device reports 0, as a VF does whose GUID was not set
 * @param systemImageGuid equal for all functions of one adapter; empty if the device reports 0
 * @param firmware the version of the firmware
 * @param board the vendor's board identifier (PSID)
 * @param ports the device's ports, by number
 * @param mlx4Iov whether the device has the {@code iov} folder through which mlx4 takes GUIDs
 */
public record RdmaDevice(
    String name,
    PciAddress address,
    Optional<Guid> nodeGuid,
    Optional<Guid> systemImageGuid,
    String firmware,
    String board,
    List<RdmaPort> ports,
    boolean mlx4Iov) {
  public RdmaDevice {
    ports = List.copyOf(ports);
  }
}
