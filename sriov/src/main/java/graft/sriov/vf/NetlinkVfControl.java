package graft.sriov.vf;

import graft.sriov.VfSettings;
import graft.sriov.host.NetInterface;
import graft.sriov.netlink.VfLinks;
import java.util.List;

/**
 * Netlink on the PF's interface: GUIDs on IPoIB; MAC, trust and rate on Ethernet; the link state on
 * both.
 */
record NetlinkVfControl(VfLinks links, VfInterface through) implements VfControl {

  private NetInterface physical() {
    return through.link().orElseThrow();
  }

  @Override
  public List<VfSettings> read() {
    return links.read(physical());
  }

  @Override
  public void set(int vf, VfSettings wanted) {
    links.set(physical(), vf, through.able(wanted));
  }
}
