package graft.sriov.vf;

import graft.sriov.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciDevice;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds by looking which way the host's driver takes the settings of VFs. */
public final class VfControls {
  private VfControls() {}

  /**
   * The way of a PF: the {@code iov} files of mlx4 where there are some; else netlink for Ethernet,
   * whose settings the out-of-tree files take but do not show; else the out-of-tree driver's files
   * where there are some; else netlink on the IPoIB interface.
   *
   * @return empty when there is none, as without {@code ib_ipoib} on a mainline kernel
   */
  public static Optional<VfControl> find(HostAccess host, PciAddress pf) {
    Sysfs files = host.files();
    for (String rdma : files.list(PciPaths.device(pf, "infiniband"))) {
      if (files.exists(PciPaths.device(pf, "infiniband/" + rdma + "/iov"))) {
        int vfs = files.read(PciPaths.device(pf, "sriov_numvfs")).map(Integer::parseInt).orElse(0);
        return Optional.of(new Mlx4VfControl(files, host.limits().attribute(), pf, rdma, vfs));
      }
    }
    Optional<NetInterface> physical = physicalInterface(files, pf);
    boolean ethernet = physical.isPresent() && !physical.get().infiniband();
    if (!ethernet && files.exists(PciPaths.device(pf, "sriov"))) {
      return Optional.of(new OfedVfControl(files, host.limits().attribute(), pf));
    }
    return physical.map(found -> new NetlinkVfControl(host.links(), found));
  }

  /** What all PFs of a host say about their VFs, by PF; those without a way are left out. */
  public static SortedMap<PciAddress, List<VfSettings>> readAll(HostAccess host, HostPci pci) {
    SortedMap<PciAddress, List<VfSettings>> all = new TreeMap<>();
    for (PciDevice pf : pci.physicalFunctions()) {
      if (pf.sriov().orElseThrow().numVfs() > 0) {
        find(host, pf.address()).ifPresent(control -> all.put(pf.address(), control.read()));
      }
    }
    return all;
  }

  /**
   * The interface of the PF itself: in its folder there may also be child interfaces of IPoIB, with
   * a dot in their names, and representors of VFs, whose port name says pfNvfM (Linux,
   * Documentation/networking/switchdev.rst).
   */
  private static Optional<NetInterface> physicalInterface(Sysfs files, PciAddress pf) {
    String folder = PciPaths.device(pf, "net");
    return files.list(folder).stream()
        .filter(
            name -> !files.read(folder + "/" + name + "/phys_port_name").orElse("").contains("vf"))
        .map(name -> read(files, folder, name))
        .filter(found -> found.infiniband() || found.type() == NetInterface.ETHERNET)
        .min(
            Comparator.comparing((NetInterface found) -> found.name().contains("."))
                .thenComparing(NetInterface::port)
                .thenComparing(NetInterface::index));
  }

  private static NetInterface read(Sysfs files, String folder, String name) {
    String path = folder + "/" + name + "/";
    return new NetInterface(
        name,
        number(files, path + "ifindex"),
        number(files, path + "type"),
        number(files, path + "dev_port"),
        "",
        "");
  }

  private static int number(Sysfs files, String path) {
    return files.read(path).map(Integer::decode).orElse(0);
  }
}
