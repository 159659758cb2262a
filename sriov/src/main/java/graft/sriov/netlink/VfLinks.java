package graft.sriov.netlink;

import graft.sriov.VfSettings;
import graft.sriov.host.NetInterface;
import java.util.List;

/** The VFs of a PF as its network interface knows them: {@code ip link show} and {@code set}. */
public interface VfLinks {

  /**
   * What the PF's driver says about its VFs, by index. A GUID of 0 is unknown and so empty, and so
   * is a MAC of 0.
   *
   * @throws NetlinkException when the kernel refuses
   */
  List<VfSettings> read(NetInterface physical);

  /**
   * Sets what is asked for, one message for each setting: node GUID, port GUID, policy, MAC, trust,
   * rate, in that order.
   *
   * @throws NetlinkException when the kernel refuses one; those before it have been set
   */
  void set(NetInterface physical, int vf, VfSettings wanted);
}
