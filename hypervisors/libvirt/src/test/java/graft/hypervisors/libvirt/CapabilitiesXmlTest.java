package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.capabilities.CapabilitiesXml;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.NumaCell;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.CpuSet;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CapabilitiesXmlTest {

  private final CapabilitiesXml qemu =
      new CapabilitiesXml(TestResource.text("capabilities-qemu.xml"));

  @Test
  void readsTheHost() {
    assertThat(qemu.arch()).isEqualTo("x86_64");
    assertThat(qemu.iommu()).isTrue();
  }

  @Test
  void readsNumaNodesWithTheirHugePages() {
    assertThat(qemu.numaCells())
        .containsExactly(
            new NumaCell(
                0,
                MemorySize.ofKib(4942036),
                CpuSet.parse("0,2"),
                Map.of(MemorySize.ofMib(2), 512L),
                Map.of(0, 10, 1, 32)),
            new NumaCell(
                1,
                MemorySize.ofGib(1),
                CpuSet.parse("1"),
                Map.of(MemorySize.ofMib(2), 0L),
                Map.of(0, 32, 1, 10)));
  }

  @Test
  void readsWhatGuestsItRuns() {
    assertThat(qemu.guests()).hasSize(2);
    GuestArchitecture guest = qemu.guests().get(1);
    assertThat(guest.emulator()).contains("/usr/bin/qemu-system-x86_64");
    assertThat(guest.machines()).containsExactly("pc-i440fx-7.2", "pc-q35-7.2", "q35");
    assertThat(guest.domainTypes()).containsExactlyInAnyOrder("qemu", "kvm");
  }

  @Test
  void readsAHostThatTellsLittle() {
    CapabilitiesXml bare =
        new CapabilitiesXml(
            """
            <capabilities>
              <host><cpu><arch>x86_64</arch></cpu></host>
              <guest>
                <os_type>xen</os_type>
                <arch name='x86_64'>
                  <wordsize>64</wordsize>
                  <machine>xenpv</machine>
                  <domain type='xen'/>
                </arch>
              </guest>
            </capabilities>
            """);
    assertThat(bare.iommu()).isFalse();
    assertThat(bare.numaCells()).isEmpty();
    assertThat(bare.guests().get(0).emulator()).isEqualTo(Optional.empty());
    assertThat(bare.guests().get(0).domainTypes()).containsExactly("xen");
  }

  @Test
  void onlyTheHostsOwnArchitectureCountsForADomainType() {
    HostCapabilities host =
        new HostCapabilities(
            LibvirtUri.QEMU_SYSTEM,
            "node1",
            "QEMU",
            Optional.of(new Version(7, 2, 0)),
            new Version(9, 0, 0),
            "i686",
            2,
            MemorySize.ofGib(4),
            qemu.numaCells(),
            false,
            qemu.guests());
    assertThat(host.offersDomainType("kvm")).isFalse();
    assertThat(host.offersDomainType("qemu")).isTrue();
    assertThat(host.nativeGuest("hvm").orElseThrow().arch()).isEqualTo("i686");
    assertThat(host.nativeGuest("xen")).isEmpty();
  }
}
