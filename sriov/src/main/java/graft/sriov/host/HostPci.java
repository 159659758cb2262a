package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A host's PCI and RDMA devices and their users at one moment.
 *
 * @param devices the PCI functions by address
 * @param rdma the RDMA devices, by PCI address and then by name
 * @param gpus the GPUs that are bound to NVIDIA's driver
 * @param modules the loaded kernel modules that are relevant for GPUs and the fabric
 * @param processes the processes that have devices open
 * @param disks the disks of the devices, and how the host uses them
 */
public record HostPci(
    SortedMap<PciAddress, PciDevice> devices,
    List<RdmaDevice> rdma,
    List<NvidiaGpu> gpus,
    Set<String> modules,
    HostProcesses processes,
    BlockDevices disks) {

  public HostPci {
    devices = Collections.unmodifiableSortedMap(new TreeMap<>(devices));
    rdma = List.copyOf(rdma);
    gpus = List.copyOf(gpus);
    modules = Collections.unmodifiableSortedSet(new TreeSet<>(modules));
  }

  /** Reads a host in one pass. */
  public static HostPci read(Sysfs files) {
    return new HostPciReader(files).read();
  }

  public Optional<PciDevice> device(PciAddress address) {
    return Optional.ofNullable(devices.get(address));
  }

  /** The physical functions, including those that have no VFs now. */
  public List<PciDevice> physicalFunctions() {
    return devices.values().stream().filter(device -> device.sriov().isPresent()).toList();
  }

  /** The RDMA devices of a PCI function; none while the function is not bound to its driver. */
  public List<RdmaDevice> rdmaOf(PciAddress address) {
    return rdma.stream().filter(device -> device.address().equals(address)).toList();
  }

  /** All functions in the slot of a device, including the device, by address. */
  public List<PciDevice> slot(PciAddress address) {
    return devices.values().stream().filter(device -> device.address().sameSlot(address)).toList();
  }

  /** All members of an IOMMU group, by address. */
  public List<PciDevice> members(IommuGroup group) {
    return devices.values().stream()
        .filter(device -> device.iommuGroup().equals(Optional.of(group)))
        .toList();
  }

  /** Whether the kernel isolates devices by an IOMMU at all. */
  public boolean hasIommu() {
    return devices.values().stream().anyMatch(device -> device.iommuGroup().isPresent());
  }

  /**
   * Descriptions of how the host uses a device now; none if the host shows no use. A device that
   * was given to a guest shows no use while the guest is off, so that callers need a ledger as
   * well.
   */
  public List<String> uses(Sysfs files, PciDevice device) {
    List<String> uses = new ArrayList<>();
    for (String file : device.deviceFiles()) {
      processes.usersOf(file).forEach(user -> uses.add("open in " + user));
    }
    for (String disk : disks.disks().getOrDefault(device.address(), List.of())) {
      processes.usersOf("/dev/" + disk).forEach(user -> uses.add("open in " + user));
    }
    for (NetInterface link : device.interfaces()) {
      if (link.state().equals("up")) {
        uses.add("its interface " + link.name() + " is up");
      }
    }
    uses.addAll(disks.uses(files, device.address()));
    return uses;
  }
}
