package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A PCI function as sysfs shows it (Linux, Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param address where it is
 * @param parent the bridge above it, empty for what hangs on a root complex
 * @param vendor 16 bits
 * @param device 16 bits
 * @param subsystemVendor 16 bits, 0 when it has none
 * @param subsystemDevice 16 bits, 0 when it has none
 * @param pciClass 24 bits: class, subclass, programming interface
 * @param driver the driver that it is bound to
 * @param driverOverride the only driver that may take it
 * @param iommuGroup empty without an IOMMU
 * @param numaNode empty when the firmware does not say
 * @param bars those that map something
 * @param sriov empty when it is no physical function, or its firmware has VFs off
 * @param physicalFunction the PF when it is a VF
 * @param resetMethods how the kernel can reset it, best first; empty when it cannot or does not say
 * @param bootVga whether it is the display that the firmware started with
 * @param enabled whether a driver or a user has enabled it
 * @param interfaces its network interfaces
 * @param mediatedTypes the types of mediated device that it offers (Linux,
 *     Documentation/driver-api/vfio-mediated-device.rst)
 * @param deviceFiles the files below {@code /dev} that lead to it
 * @param ofedSriov whether it has the {@code sriov} folder of NVIDIA's out-of-tree driver
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

  /** NVIDIA's GPUs, as the PCI-SIG assigned it. */
  public static final int NVIDIA = 0x10de;

  /** Mellanox, now NVIDIA: the ConnectX adapters. */
  public static final int MELLANOX = 0x15b3;

  /** The drivers under which a device belongs to a guest or to a process in user space. */
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

  /** Whether a driver that hands devices to guests has it, so that somebody may be using it. */
  public boolean boundForPassthrough() {
    return driver.isPresent() && PASSTHROUGH_DRIVERS.contains(driver.get());
  }

  /** {@code 0000:3b:00.1 [15b3:101c] mlx5_core}: enough to know it by in a message. */
  public String label() {
    return String.format(
        "%s [%04x:%04x] %s", address, vendor, device, driver.orElse("without a driver"));
  }
}
