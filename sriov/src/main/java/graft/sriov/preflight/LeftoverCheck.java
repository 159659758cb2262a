package graft.sriov.preflight;

import graft.common.values.PciAddress;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.plan.FunctionDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Checks what guests and administrators leave behind: a GPU that did not come back to the host's
 * driver, a network interface that did not come back from a container, and virtual functions
 * without a GUID, with which RDMA's connection manager fails and other tools refuse them ("GUID is
 * not valid").
 */
final class LeftoverCheck {
  /** Class and subclass of PCI. */
  private static final int ETHERNET = 0x0200;

  private LeftoverCheck() {}

  /**
   * All findings.
   *
   * @param lent the functions whose network interfaces containers that run now have
   */
  static List<Finding> check(HostPci host, Set<PciAddress> lent) {
    List<Finding> findings = new ArrayList<>();
    for (PciDevice device : host.devices().values()) {
      if (device.isNvidiaGpu() && device.boundForPassthrough() && !isOpen(host, device)) {
        findings.add(left(device));
      }
      if (hasLostItsInterface(device) && !lent.contains(device.address())) {
        findings.add(lost(device));
      }
    }
    for (RdmaDevice device : host.rdma()) {
      boolean isFunction =
          host.device(device.address()).map(PciDevice::isVirtualFunction).orElse(false);
      if (isFunction && device.nodeGuid().isEmpty()) {
        findings.add(
            Finding.warning(
                device.address().toString(),
                "the virtual function " + device.name() + " has no node GUID (it is 0)",
                "graft apply with the function in a guest's vfs: sets one; by hand: ip link set PF"
                    + " vf N node_guid GUID port_guid GUID, then bind the function's driver again"));
      }
    }
    return findings;
  }

  /** A function of an InfiniBand adapter may have no interface on a host that is well. */
  private static boolean hasLostItsInterface(PciDevice device) {
    return device.pciClass() >> 8 == ETHERNET
        && device.interfaces().isEmpty()
        && device.driver().filter(FunctionDriver::isKnown).isPresent();
  }

  private static Finding lost(PciDevice device) {
    PciAddress at = device.address();
    String driver = device.driver().orElseThrow();
    return Finding.warning(
        at.toString(),
        "it is bound to "
            + driver
            + " and has no network interface here: another network namespace has it, as after a"
            + " container that did not give it back",
        "lsns -t net shows the namespaces; graft list whether a guest of Graft's has it",
        "else: echo " + at + " > /sys/bus/pci/drivers/" + driver + "/unbind",
        "echo " + at + " > /sys/bus/pci/drivers/" + driver + "/bind");
  }

  /** A running guest has the device's group open. */
  private static boolean isOpen(HostPci host, PciDevice device) {
    return device
        .iommuGroup()
        .map(group -> !host.processes().usersOf("/dev/vfio/" + group).isEmpty())
        .orElse(false);
  }

  private static Finding left(PciDevice gpu) {
    PciAddress at = gpu.address();
    String driver = gpu.driver().orElseThrow();
    return Finding.warning(
        at.toString(),
        "the GPU belongs to "
            + driver
            + " and no running guest has it: the host cannot use it, as after a guest that stopped"
            + " without giving it back",
        "graft list shows whether a guest of Graft's has it, which undo and detach give back",
        "else: echo > /sys/bus/pci/devices/" + at + "/driver_override",
        "echo " + at + " > /sys/bus/pci/drivers/" + driver + "/unbind",
        "echo " + at + " > /sys/bus/pci/drivers_probe");
  }
}
