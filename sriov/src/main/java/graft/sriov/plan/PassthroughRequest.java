package graft.sriov.plan;

import graft.common.values.PciAddress;

/**
 * A device that a guest shall have for itself.
 *
 * @param device which; of a GPU any function, the others of its slot go with it
 * @param guest who shall have it
 * @param bridges what to do when its IOMMU group holds a bridge
 */
public record PassthroughRequest(PciAddress device, String guest, Bridges bridges) {

  /** A group that also holds a PCI bridge. */
  public enum Bridges {
    /** Not taken: what is below the bridge is not kept apart from each other by the hardware. */
    REFUSE,
    /** Taken: vfio lets bridges be (Linux, drivers/vfio); all else in the group must go along. */
    ACCEPT
  }

  public PassthroughRequest(PciAddress device, String guest) {
    this(device, guest, Bridges.REFUSE);
  }
}
