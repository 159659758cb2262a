package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.vf.HostAccess;

/**
 * pciback's list of the devices that it may take. A device that its override gives to pciback gets
 * into the list by itself and stays there when the driver changes: it would be taken again whenever
 * it has no driver. Nothing here writes {@code new_slot}, which adds a device a second time when it
 * is there already.
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

  /** Takes the device from the list; the kernel takes it as often as it is there. */
  static void remove(HostAccess host, PciAddress device) {
    if (has(host.files(), device)) {
      host.files().write(REMOVE, device.toString(), host.limits().attribute());
    }
  }
}
