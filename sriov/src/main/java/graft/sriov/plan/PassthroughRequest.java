package graft.sriov.plan;

import graft.common.values.PciAddress;

/**
 * A request for a device that a guest is to own.
 *
 * @param device the device; for a GPU any function, since the other functions of its slot are
 *     included
 * @param guest the guest that is to own the device
 * @param bridges what to do if the device's IOMMU group contains a bridge
 */
public record PassthroughRequest(PciAddress device, String guest, Bridges bridges) {

  /** The treatment of a group that also contains a PCI bridge. */
  public enum Bridges {
    /**
     * The request is refused: the hardware does not isolate the devices below the bridge from each
     * other.
     */
    REFUSE,
    /**
     * The request is accepted: vfio ignores bridges (Linux, drivers/vfio). All other members of the
     * group must be passed through as well.
     */
    ACCEPT
  }

  public PassthroughRequest(PciAddress device, String guest) {
    this(device, guest, Bridges.REFUSE);
  }
}
