package graft.hypervisors.libvirt;

import graft.common.values.PciAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A PCI function of the host as libvirt sees it.
 *
 * @param name libvirt's, {@code pci_0000_04_10_0}
 * @param driver the kernel driver that is bound to it
 * @param vendorId 16 bits
 * @param productId 16 bits
 * @param product its name, as far as the host's tables know it
 * @param pciClass 24 bits, as {@code 0x030000} for a VGA controller
 * @param iommuGroup the group that it can only be passed through with
 * @param numaNode the NUMA node that it hangs on
 * @param physicalFunction for a virtual function, what it belongs to
 * @param virtualFunctions for a physical function, those that exist now
 */
public record NodeDevice(
    String name,
    PciAddress address,
    Optional<String> driver,
    int vendorId,
    int productId,
    Optional<String> product,
    OptionalInt pciClass,
    OptionalInt iommuGroup,
    OptionalInt numaNode,
    Optional<PciAddress> physicalFunction,
    List<PciAddress> virtualFunctions) {
  public NodeDevice {
    virtualFunctions = List.copyOf(virtualFunctions);
  }
}
