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
 * A host's PCI and RDMA devices and who uses them, at one moment.
 *
 * @param devices by address
 * @param rdma the RDMA devices, by PCI address and then by name
 * @param gpus those that NVIDIA's driver drives
 * @param modules those loaded kernel modules that matter for GPUs and fabric
 * @param processes who has which device open
 * @param disks the disks of devices and what the host does with them
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

  /** The physical functions, also those that have no VFs now. */
  public List<PciDevice> physicalFunctions() {
    return devices.values().stream().filter(device -> device.sriov().isPresent()).toList();
  }

  /** The RDMA devices of a PCI function: none while its driver is away. */
  public List<RdmaDevice> rdmaOf(PciAddress address) {
    return rdma.stream().filter(device -> device.address().equals(address)).toList();
  }

  /** All functions of the slot of a device, itself among them, by address. */
  public List<PciDevice> slot(PciAddress address) {
    return devices.values().stream().filter(device -> device.address().sameSlot(address)).toList();
  }

  /** All members of a group, by address. */
  public List<PciDevice> members(IommuGroup group) {
    return devices.values().stream()
        .filter(device -> device.iommuGroup().equals(Optional.of(group)))
        .toList();
  }

  /** Whether the kernel keeps devices apart by an IOMMU at all. */
  public boolean hasIommu() {
    return devices.values().stream().anyMatch(device -> device.iommuGroup().isPresent());
  }

  /**
   * Who or what uses a device on the host now, in words; none when it is free as far as the host
   * can tell. A device that a guest has been given but does not run with shows no use: keep a
   * ledger.
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
