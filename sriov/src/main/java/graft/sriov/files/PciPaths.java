package graft.sriov.files;

import graft.common.values.PciAddress;

/** The paths of the PCI core (Linux, Documentation/ABI/testing/sysfs-bus-pci). */
public final class PciPaths {
  public static final String DEVICES = "/sys/bus/pci/devices";
  public static final String DRIVERS = "/sys/bus/pci/drivers";

  private PciPaths() {}

  /** The folder of a device. */
  public static String device(PciAddress address) {
    return DEVICES + "/" + address;
  }

  /** A file or link of a device. */
  public static String device(PciAddress address, String name) {
    return DEVICES + "/" + address + "/" + name;
  }

  /** A file of a driver: bind, unbind, new_id. */
  public static String driver(String driver, String name) {
    return DRIVERS + "/" + driver + "/" + name;
  }
}
