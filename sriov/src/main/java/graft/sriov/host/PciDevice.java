package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A PCI function as sysfs shows it (Linux, Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param address the function's address
 * @param parent the bridge above the function, empty for a function at a root complex
 * @param vendor 16 bits
 * @param device 16 bits
 * @param subsystemVendor 16 bits, 0 if there is none
 * @param subsystemDevice 16 bits, 0 if there is none
 * @param pciClass 24 bits: class, subclass, programming interface
 * @param driver the driver that the function is bound to
 * @param driverOverride the only driver that may be bound to the function
 * @param iommuGroup empty without an IOMMU
 * @param numaNode empty if the firmware does not report it
 * @param bars the base address registers that map a range
 * @param sriov empty if the function is not a physical function, or if its firmware disables VFs
 * @param physicalFunction the PF, if the function is a VF
 * @param resetMethods the kernel's methods to reset the function, best first; empty if the kernel
 *     has or reports none
 * @param bootVga whether the firmware used the function as its display at boot
 * @param enabled whether a driver or a user has enabled the function
 * @param interfaces the function's network interfaces
 * @param mediatedTypes the types of mediated devices that the function offers (Linux,
 *     Documentation/driver-api/vfio-mediated-device.rst)
 * @param deviceFiles the files below {@code /dev} that belong to the function
 * @param ofedSriov whether the function has the {@code sriov} folder of NVIDIA's out-of-tree driver
 */
public record PciDevice(
    PciAddress address,
    Optional<PciAddress> parent,
    int vendor,
    int device,
    int subsystemVendor,
    int subsystemDevice,
    int pciClass,
    Optional<String> driver,
    Optional<String> driverOverride,
    Optional<IommuGroup> iommuGroup,
    OptionalInt numaNode,
    List<Bar> bars,
    Optional<SriovCapability> sriov,
    Optional<PciAddress> physicalFunction,
    List<String> resetMethods,
    boolean bootVga,
    boolean enabled,
    List<NetInterface> interfaces,
    List<String> mediatedTypes,
    List<String> deviceFiles,
    boolean ofedSriov) {

  /** The vendor number of NVIDIA's GPUs, assigned by the PCI-SIG. */
  public static final int NVIDIA = 0x10de;

  /** The vendor number of Mellanox, now NVIDIA: the ConnectX adapters. */
  public static final int MELLANOX = 0x15b3;

  /** The drivers whose devices belong to a guest or to a process in user space. */
  public static final List<String> PASSTHROUGH_DRIVERS =
      List.of("vfio-pci", "pciback", "xen-pciback", "uio_pci_generic", "igb_uio");

  public PciDevice {
    bars = List.copyOf(bars);
    resetMethods = List.copyOf(resetMethods);
    interfaces = List.copyOf(interfaces);
    mediatedTypes = List.copyOf(mediatedTypes);
    deviceFiles = List.copyOf(deviceFiles);
  }

  /** A display controller: class 03 (VGA, 3D). */
  public boolean isDisplay() {
    return pciClass >> 16 == 0x03;
  }

  public boolean isNvidiaGpu() {
    return vendor == NVIDIA && isDisplay();
  }

  /** A bridge between PCI buses: class 0604. A host bridge (0600) is not one. */
  public boolean isPciBridge() {
    return pciClass >> 8 == 0x0604;
  }

  public boolean isVirtualFunction() {
    return physicalFunction.isPresent();
  }

  /**
   * Whether the function is bound to a driver that passes devices to guests, so that it may be in
   * use.
   */
  public boolean boundForPassthrough() {
    return driver.isPresent() && PASSTHROUGH_DRIVERS.contains(driver.get());
  }

  /**
   * A label that identifies the device in a message: {@code 0000:3b:00.1 [15b3:101c] mlx5_core}.
   */
  public String label() {
    return String.format(
        "%s [%04x:%04x] %s", address, vendor, device, driver.orElse("without a driver"));
  }
}
