package graft.sriov.plan;

import graft.sriov.host.PciDevice;

/** Advice for an adapter whose firmware offers no virtual functions, or too few. */
public final class Firmware {
  private Firmware() {}

  /** The advice, as a sentence without a full stop, with commands for known adapters. */
  public static String advice(PciDevice pf, int count, boolean infiniband) {
    if (pf.vendor() != PciDevice.MELLANOX) {
      return "Turn SR-IOV on in the device's firmware and in the BIOS";
    }
    return "Run: mlxconfig -d "
        + pf.address()
        + " set SRIOV_EN=1 NUM_OF_VFS="
        + count
        + (infiniband ? " LINK_TYPE_P1=1" : "")
        + "; then mlxfwreset -d "
        + pf.address()
        + " reset (or reboot); and turn SR-IOV on in the BIOS";
  }
}
