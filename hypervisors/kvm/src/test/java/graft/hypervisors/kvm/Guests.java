package graft.hypervisors.kvm;

import graft.common.values.MacAddress;
import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.LifecycleAction;
import graft.hypervisors.libvirt.domain.MemoryBacking;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.VsockSpec;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** Guests for tests, one of each kind that Graft creates. */
final class Guests {

  private Guests() {}

  /** The guest of the demo: it boots a kernel with an initramfs and has a user-mode network. */
  static DomainSpec kernel(String name) {
    return DomainSpec.named(name)
        .memory(MemorySize.ofMib(192))
        .boot(
            new Boot.DirectKernel(
                "/var/lib/graft/vmlinuz",
                Optional.of("/var/lib/graft/initramfs"),
                "console=ttyS0 quiet panic=-1"))
        .onReboot(LifecycleAction.DESTROY)
        .networkInterface(InterfaceSpec.userMode())
        .serial(new SerialSpec("/var/log/graft/" + name + ".log"))
        .channel(ChannelSpec.GUEST_AGENT)
        .metadata(GuestMetadata.of("demo", Map.of("spec", "sha256:12")))
        .build();
  }

  /** A guest with a cloud image and a seed, on a libvirt network. */
  static DomainSpec cloud(String name) {
    return DomainSpec.named(name)
        .uuid(UUID.fromString("b2de785c-944e-4b86-8913-e4e399fada0a"))
        .cpus(2)
        .memory(MemorySize.ofGib(2))
        .boot(new Boot.FromDisk(Boot.Firmware.BIOS))
        .disk(DiskSpec.volume("graft", name + ".qcow2", DiskSpec.Format.QCOW2))
        .disk(DiskSpec.file("/data/b.raw", DiskSpec.Format.RAW).withSerial("data"))
        .disk(DiskSpec.cdromVolume("graft", name + "-seed.iso"))
        .networkInterface(
            InterfaceSpec.network("default").withMac(MacAddress.parse("52:54:00:11:22:33")))
        .networkInterface(InterfaceSpec.bridge("br0"))
        .serial(new SerialSpec("/var/log/graft/" + name + ".log"))
        .channel(ChannelSpec.GUEST_AGENT)
        .metadata(GuestMetadata.of("cluster"))
        .build();
  }

  /** A guest that owns a GPU by passthrough, placed on one NUMA node. */
  static DomainSpec owner(String name) {
    return DomainSpec.named(name)
        .cpus(2)
        .memory(MemorySize.ofGib(4))
        .boot(new Boot.FromDisk(Boot.Firmware.UEFI))
        .memoryBacking(new MemoryBacking(Optional.of(MemorySize.ofMib(2)), true, true))
        .numaTune(new NumaTune(CpuSet.of(1), NumaTune.Mode.STRICT))
        .cpuTune(
            new CpuTune(
                new TreeMap<>(Map.of(0, CpuSet.of(4), 1, CpuSet.of(5))),
                Optional.of(CpuSet.parse("6-7"))))
        .hideHypervisor(true)
        .disk(DiskSpec.file("/images/" + name + ".qcow2", DiskSpec.Format.QCOW2))
        .hostdev(new HostdevSpec.Pci(PciAddress.parse("0000:03:00.0")))
        .hostdev(new HostdevSpec.Pci(PciAddress.parse("0000:03:00.1")))
        .hostdev(new HostdevSpec.Pci(PciAddress.parse("0000:04:10.2")))
        .hostdev(HostdevSpec.parse("6f4f4f4f-0000-0000-0000-000000000001"))
        .pciWindow(Optional.of(MemorySize.ofGib(128)))
        .spareSlots(2)
        .sharedMemory(new ShmemSpec(name + "-ring", MemorySize.ofMib(64)))
        .vsock(VsockSpec.of(42))
        .build();
  }
}
