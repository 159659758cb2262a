package graft.sriov.vf;

import graft.sriov.VfSettings;
import graft.sriov.host.NetInterface;
import graft.sriov.netlink.VfLinks;
import java.util.List;
import java.util.Optional;

/** Netlink on the PF's interface: GUIDs on IPoIB, MAC, trust and rate on Ethernet, link on both. */
final class NetlinkVfControl implements VfControl {
  private final VfLinks links;
  private final NetInterface physical;

  NetlinkVfControl(VfLinks links, NetInterface physical) {
    this.links = links;
    this.physical = physical;
  }

  @Override
  public String name() {
    return "netlink on " + physical.name();
  }

  @Override
  public VfSettings able(VfSettings wanted) {
    return physical.infiniband()
        ? new VfSettings(
            wanted.nodeGuid(),
            wanted.portGuid(),
            wanted.policy(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty())
        : new VfSettings(
            Optional.empty(),
            Optional.empty(),
            wanted.policy(),
            wanted.mac(),
            wanted.trust(),
            wanted.rate());
  }

  @Override
  public List<VfSettings> read() {
    return links.read(physical);
  }

  @Override
  public void set(int vf, VfSettings wanted) {
    links.set(physical, vf, able(wanted));
  }
}
