package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of a PCI function (Linux, Documentation/ABI/stable/sysfs-class-infiniband).
 *
 * @param name such as {@code mlx5_0}
 * @param address its PCI function
 * @param nodeGuid empty when the device says 0: a VF whose GUID nobody has set
 * @param systemImageGuid the same for all functions of one adapter; empty when 0
 * @param firmware version
 * @param board the vendor's board identifier (PSID)
 * @param ports by number
 * @param mlx4Iov whether it has the {@code iov} folder through which mlx4 takes GUIDs
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
