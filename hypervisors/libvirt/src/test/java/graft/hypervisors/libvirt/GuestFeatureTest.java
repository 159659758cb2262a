package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.MemoryBacking;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.VsockSpec;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GuestFeatureTest {

  @Test
  void aPlainDiskGuestNeedsNothingButAWholeMachineAndItsDisk() {
    DomainSpec spec = DomainSpec.named("a").disk(DiskSpec.file("/a", DiskSpec.Format.RAW)).build();
    assertThat(GuestFeature.requiredBy(spec)).containsExactly(GuestFeature.DISKS, GuestFeature.HVM);
  }

  @Test
  void everyPartOfASpecNeedsItsFeature() {
    DomainSpec kernel =
        DomainSpec.named("a")
            .boot(new Boot.DirectKernel("/k", Optional.empty(), ""))
            .memoryBacking(new MemoryBacking(Optional.of(MemorySize.ofMib(2)), true, false))
            .numaTune(new NumaTune(CpuSet.of(0), NumaTune.Mode.STRICT))
            .cpuTune(CpuTune.pins(Map.of(0, CpuSet.of(1))))
            .hideHypervisor(true)
            .disk(DiskSpec.cdrom("/seed.iso"))
            .networkInterface(InterfaceSpec.userMode())
            .networkInterface(InterfaceSpec.network("default").withCleanTraffic())
            .networkInterface(InterfaceSpec.bridge("br0"))
            .hostdev(new HostdevSpec.Pci(PciAddress.parse("0000:04:10.0")))
            .hostdev(HostdevSpec.parse("6f4f4f4f-0000-0000-0000-000000000001"))
            .hostdev(new HostdevSpec.Node("/dev/nvidia0"))
            .hostdev(new HostdevSpec.Interface("eth7"))
            .sharedMemory(new ShmemSpec("a", MemorySize.ofMib(1)))
            .vsock(VsockSpec.automatic())
            .serial(new SerialSpec("/a.log"))
            .channel(ChannelSpec.GUEST_AGENT)
            .build();
    DomainSpec uefi =
        DomainSpec.named("b")
            .boot(new Boot.FromDisk(Boot.Firmware.UEFI))
            .disk(DiskSpec.file("/b", DiskSpec.Format.RAW))
            .build();
    var needed = EnumSet.noneOf(GuestFeature.class);
    needed.addAll(GuestFeature.requiredBy(kernel));
    needed.addAll(GuestFeature.requiredBy(uefi));
    for (Virtualization kind : Virtualization.values()) {
      DomainSpec guest =
          DomainSpec.named("c")
              .virtualization(kind)
              .boot(new Boot.DirectKernel("/k", Optional.empty(), ""))
              .build();
      needed.addAll(GuestFeature.requiredBy(guest));
    }
    assertThat(EnumSet.complementOf(needed))
        .as("every feature is needed by some part of a spec, but speed and what devices bring")
        .containsExactly(
            GuestFeature.HARDWARE_ACCELERATION,
            GuestFeature.FILTERED_DEVICES,
            GuestFeature.HOT_PLUG);
  }
}
