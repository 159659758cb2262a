package graft.sriov.vf;

import graft.sriov.VfSettings;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciFunction;
import graft.sriov.host.RdmaDevice;
import java.util.Comparator;
import java.util.Optional;

/**
 * The kernel interface by which a PF's driver accepts the settings of its VFs, detected from sysfs.
 *
 * @param kind the kind of interface
 * @param link the PF's own network interface, if there is one
 * @param rdma the name of the PF's RDMA device, if there is one
 */
public record VfInterface(Kind kind, Optional<NetInterface> link, Optional<String> rdma) {

  /** The kinds of interfaces. */
  public enum Kind {
    /** Netlink on the IPoIB interface: mainline mlx5 (drivers/infiniband/hw/mlx5/ib_virt.c). */
    NETLINK_INFINIBAND,
    /** Netlink on the Ethernet interface: all SR-IOV network cards. */
    NETLINK_ETHERNET,
    /** {@code sriov/N/...} in the PF's folder: mlx5 of MLNX_OFED and DOCA-OFED. */
    OFED_FILES,
    /** {@code iov/...} in the RDMA device's folder: mlx4. */
    MLX4_FILES
  }

  /**
   * The interface of a PF: mlx4's {@code iov} files if they exist; else netlink for Ethernet, whose
   * settings the out-of-tree files accept but do not show; else the out-of-tree driver's files if
   * they exist; else netlink on the IPoIB interface.
   *
   * @return empty if there is no interface, as without {@code ib_ipoib} on a mainline kernel
   */
  public static Optional<VfInterface> of(PciFunction pf) {
    Optional<NetInterface> link = physicalInterface(pf);
    Optional<String> rdma = pf.rdma().stream().map(RdmaDevice::name).findFirst();
    boolean ethernet = link.isPresent() && !link.get().infiniband();
    Kind kind;
    if (pf.rdma().stream().anyMatch(RdmaDevice::mlx4Iov)) {
      kind = Kind.MLX4_FILES;
    } else if (ethernet) {
      kind = Kind.NETLINK_ETHERNET;
    } else if (pf.device().ofedSriov()) {
      kind = Kind.OFED_FILES;
    } else if (link.isPresent()) {
      kind = Kind.NETLINK_INFINIBAND;
    } else {
      return Optional.empty();
    }
    return Optional.of(new VfInterface(kind, link, rdma));
  }

  /**
   * The interface of the PF itself: the PF's folder may also contain child interfaces of IPoIB,
   * with a dot in their names, and representors of VFs.
   */
  private static Optional<NetInterface> physicalInterface(PciFunction pf) {
    return pf.device().interfaces().stream()
        .filter(link -> !link.representor())
        .filter(link -> link.infiniband() || link.type() == NetInterface.ETHERNET)
        .min(
            Comparator.comparing((NetInterface link) -> link.name().contains("."))
                .thenComparing(NetInterface::port)
                .thenComparing(NetInterface::index));
  }

  /** The interface's name in plans and errors. */
  public String name() {
    return switch (kind) {
      case NETLINK_INFINIBAND, NETLINK_ETHERNET -> "netlink on " + link.orElseThrow().name();
      case OFED_FILES -> "the files of the out-of-tree driver";
      case MLX4_FILES -> "the iov files of mlx4";
    };
  }

  /** The settings that this interface supports; the other settings are empty in the result. */
  public VfSettings able(VfSettings wanted) {
    return switch (kind) {
      case NETLINK_INFINIBAND, OFED_FILES ->
          new VfSettings(
              wanted.nodeGuid(),
              wanted.portGuid(),
              wanted.policy(),
              Optional.empty(),
              Optional.empty(),
              Optional.empty());
      case NETLINK_ETHERNET ->
          new VfSettings(
              Optional.empty(),
              Optional.empty(),
              wanted.policy(),
              wanted.mac(),
              wanted.trust(),
              wanted.rate());
      case MLX4_FILES ->
          new VfSettings(
              Optional.empty(),
              wanted.portGuid(),
              Optional.empty(),
              Optional.empty(),
              Optional.empty(),
              Optional.empty());
    };
  }

  /**
   * The settings that this interface does not support. A node GUID besides a port GUID is not
   * reported if the interface supports port GUIDs only (mlx4): the node GUID is ignored.
   */
  public VfSettings unable(VfSettings wanted) {
    VfSettings able = able(wanted);
    VfSettings rest = wanted.notIn(able);
    return able.portGuid().isPresent() && rest.nodeGuid().isPresent()
        ? new VfSettings(
            Optional.empty(), rest.portGuid(), rest.policy(), rest.mac(), rest.trust(), rest.rate())
        : rest;
  }
}
