package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.vf.HostAccess;

/**
 * pciback's list of the devices that it may bind. A device whose override names pciback is added to
 * the list automatically and stays in the list when its driver changes: pciback would bind the
 * device again whenever it has no driver. Graft does not write {@code new_slot}, which adds a
 * second entry if the device is already in the list.
 *
 * @see <a
 *     href="https://elixir.bootlin.com/linux/v6.1/source/drivers/xen/xen-pciback/pci_stub.c">Linux:
 *     pci_stub.c</a>
 */
final class PcibackSlots {
  private static final String SLOTS = PciPaths.driver("pciback", "slots");
  private static final String REMOVE = PciPaths.driver("pciback", "remove_slot");

  private PcibackSlots() {}

  static boolean has(Sysfs files, PciAddress device) {
    return files.read(SLOTS).stream()
        .flatMap(String::lines)
        .anyMatch(line -> line.strip().equals(device.toString()));
  }

  /** Removes all entries of the device from the list. */
  static void remove(HostAccess host, PciAddress device) {
    if (has(host.files(), device)) {
      host.files().write(REMOVE, device.toString(), host.limits().attribute());
    }
  }
}
