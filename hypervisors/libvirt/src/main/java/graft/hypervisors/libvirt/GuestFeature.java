package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.util.EnumSet;
import java.util.Set;

/** A feature that a guest may need and a hypervisor may lack; planning checks the features. */
public enum GuestFeature {
  /**
   * The CPU executes the guest's instructions; without this feature every instruction is emulated.
   */
  HARDWARE_ACCELERATION("hardware acceleration"),
  GUEST_AGENT("the QEMU guest agent"),
  SHARED_MEMORY("memory shared with the host"),
  VSOCK("vsock"),
  PCI_PASSTHROUGH("PCI passthrough"),
  MEDIATED_DEVICES("mediated devices"),
  DEVICE_NODES("device nodes of the host"),
  NETWORK_INTERFACES("network interfaces of the host"),
  /**
   * The hypervisor restricts a guest's writes to certain parts of a device's configuration space.
   */
  FILTERED_DEVICES("filtering of devices' configuration space"),
  HUGE_PAGES("huge pages"),
  LOCKED_MEMORY("locked memory"),
  NUMA_TUNING("memory from chosen NUMA nodes"),
  CPU_PINNING("pinned CPUs"),
  DIRECT_KERNEL_BOOT("booting a kernel from the host"),
  UEFI("UEFI"),
  USER_NETWORK("user-mode network"),
  LIBVIRT_NETWORK("networks of libvirt"),
  HOST_BRIDGE("bridges of the host"),
  NETWORK_FILTER("filters of network traffic"),
  DISKS("disks"),
  CDROM("CD-ROM drives"),
  HOT_PLUG("disks and network cards that are attached while it runs"),
  CONSOLE_LOG("a console log in a file"),
  HIDDEN_HYPERVISOR("hiding the hypervisor"),
  HVM("HVM guests"),
  PVH("PVH guests"),
  PV("PV guests"),
  CONTAINER("containers");

  private final String words;

  GuestFeature(String words) {
    this.words = words;
  }

  /** The feature in words that follow "cannot give" in messages. */
  public String words() {
    return words;
  }

  /** The features that a guest needs. */
  public static Set<GuestFeature> requiredBy(DomainSpec spec) {
    Set<GuestFeature> needs = EnumSet.of(kind(spec.virtualization()));
    if (spec.boot() instanceof Boot.DirectKernel) {
      needs.add(DIRECT_KERNEL_BOOT);
    } else if (spec.boot() instanceof Boot.FromDisk disk && disk.firmware() == Boot.Firmware.UEFI) {
      needs.add(UEFI);
    }
    spec.memoryBacking()
        .ifPresent(
            backing -> {
              if (backing.hugePages().isPresent()) {
                needs.add(HUGE_PAGES);
              }
              if (backing.locked()) {
                needs.add(LOCKED_MEMORY);
              }
              if (backing.shared()) {
                needs.add(SHARED_MEMORY);
              }
            });
    spec.numaTune().ifPresent(tune -> needs.add(NUMA_TUNING));
    spec.cpuTune().ifPresent(tune -> needs.add(CPU_PINNING));
    if (spec.hideHypervisor()) {
      needs.add(HIDDEN_HYPERVISOR);
    }
    spec.interfaces().forEach(i -> needs.add(network(i.source())));
    if (spec.interfaces().stream().anyMatch(InterfaceSpec::cleanTraffic)) {
      needs.add(NETWORK_FILTER);
    }
    if (spec.disks().stream().anyMatch(d -> d.kind() == DiskSpec.Kind.CDROM)) {
      needs.add(CDROM);
    }
    if (spec.disks().stream().anyMatch(d -> d.kind() == DiskSpec.Kind.DISK)) {
      needs.add(DISKS);
    }
    spec.hostdevs().forEach(device -> needs.add(device(device)));
    if (!spec.sharedMemory().isEmpty()) {
      needs.add(SHARED_MEMORY);
    }
    spec.vsock().ifPresent(vsock -> needs.add(VSOCK));
    spec.serial().ifPresent(serial -> needs.add(CONSOLE_LOG));
    if (spec.channels().contains(ChannelSpec.GUEST_AGENT)) {
      needs.add(GUEST_AGENT);
    }
    return needs;
  }

  private static GuestFeature device(HostdevSpec device) {
    if (device instanceof HostdevSpec.Node) {
      return DEVICE_NODES;
    }
    if (device instanceof HostdevSpec.Interface) {
      return NETWORK_INTERFACES;
    }
    return device instanceof HostdevSpec.Pci ? PCI_PASSTHROUGH : MEDIATED_DEVICES;
  }

  private static GuestFeature kind(Virtualization virtualization) {
    return switch (virtualization) {
      case HVM -> HVM;
      case PVH -> PVH;
      case PV -> PV;
      case CONTAINER -> CONTAINER;
    };
  }

  private static GuestFeature network(InterfaceSpec.Source source) {
    if (source instanceof InterfaceSpec.UserMode || source instanceof InterfaceSpec.Tunnel) {
      return USER_NETWORK;
    }
    return source instanceof InterfaceSpec.HostBridge ? HOST_BRIDGE : LIBVIRT_NETWORK;
  }
}
