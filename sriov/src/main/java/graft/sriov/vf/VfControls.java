package graft.sriov.vf;

import graft.common.values.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds the interface to the settings of a PF's VFs on a running host. */
public final class VfControls {
  private VfControls() {}

  /** The interface of a PF; empty if the PF's driver offers none now. */
  public static Optional<VfControl> find(HostAccess host, PciAddress pf) {
    return of(host, PciFunction.read(host.files(), pf));
  }

  private static Optional<VfControl> of(HostAccess host, PciFunction pf) {
    return VfInterface.of(pf)
        .map(
            through ->
                switch (through.kind()) {
                  case NETLINK_INFINIBAND, NETLINK_ETHERNET ->
                      new NetlinkVfControl(host.links(), through);
                  case OFED_FILES -> new OfedVfControl(host, through, pf.device().address());
                  case MLX4_FILES -> new Mlx4VfControl(host, through, pf.device());
                });
  }

  /**
   * The VF settings that all PFs of a host report, by PF; PFs without an interface are left out.
   */
  public static SortedMap<PciAddress, List<VfSettings>> readAll(HostAccess host, HostPci pci) {
    SortedMap<PciAddress, List<VfSettings>> all = new TreeMap<>();
    for (PciDevice pf : pci.physicalFunctions()) {
      if (pf.sriov().orElseThrow().numVfs() > 0) {
        of(host, new PciFunction(pf, pci.rdmaOf(pf.address())))
            .ifPresent(control -> all.put(pf.address(), control.read()));
      }
    }
    return all;
  }
}
