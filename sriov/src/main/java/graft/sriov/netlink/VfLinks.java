package graft.sriov.netlink;

import graft.sriov.VfSettings;
import graft.sriov.host.NetInterface;
import java.util.List;

/**
 * The VFs of a PF as the PF's network interface shows them: {@code ip link show} and {@code set}.
 */
public interface VfLinks {

  /**
   * The settings of the VFs that the PF's driver reports, by index. A GUID or a MAC of 0 is unknown
   * and therefore empty.
   *
   * @throws NetlinkException if the kernel rejects the request
   */
  List<VfSettings> read(NetInterface physical);

  /**
   * Sets the settings that are present, one message for each: node GUID, port GUID, policy, MAC,
   * trust, rate, in that order.
   *
   * @throws NetlinkException if the kernel rejects a setting; the settings before it have been made
   */
  void set(NetInterface physical, int vf, VfSettings wanted);
}
