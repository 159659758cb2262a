package graft.hypervisors.xen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.common.values.MacAddress;
import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.VsockSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class XenHypervisorTest {
  private static final DiskSpec SEED =
      new DiskSpec(
          new DiskSpec.ImageFile("/images/seed.iso"),
          DiskSpec.Format.RAW,
          DiskSpec.Kind.DISK,
          true);

  private static final HostCapabilities HOST = host(List.of("xen", "hvm", "xenpvh"));
  private static final XenHypervisor XEN =
      new XenHypervisor(
          host -> RunningXen.parse("virt_caps : pv hvm hvm_directio pv_directio", true));

  @Test
  void acceptsHostsOfXenOnly() {
    assertThat(XEN.name()).isEqualTo("xen");
    assertThat(XEN.accepts(HOST)).isTrue();
    assertThat(XEN.accepts(host("QEMU", List.of("hvm")))).isFalse();
  }

  @Test
  void paravirtualizedGuestFromAKernel() {
    golden("pv-kernel.xml", kernel(Virtualization.PV).spareSlots(8).hostdev(vf()).build());
  }

  @Test
  void pvhGuestFromAKernel() {
    golden("pvh-kernel.xml", kernel(Virtualization.PVH).build());
  }

  @Test
  void pvhGuestFromADisk() {
    golden(
        "pvh-disk.xml",
        DomainSpec.named("xen-2")
            .virtualization(Virtualization.PVH)
            .disk(DiskSpec.file("/images/xen-2.qcow2", DiskSpec.Format.QCOW2))
            .disk(DiskSpec.file("/data/b.raw", DiskSpec.Format.RAW).withSerial("data"))
            .disk(SEED)
            .networkInterface(InterfaceSpec.bridge("xenbr0"))
            .build());
  }

  @Test
  void wholeMachineWithADevice() {
    golden(
        "hvm-disk.xml",
        DomainSpec.named("owner")
            .cpus(2)
            .memory(MemorySize.ofGib(4))
            .cpuTune(
                new CpuTune(
                    new TreeMap<>(Map.of(0, CpuSet.of(4), 1, CpuSet.of(5))), Optional.empty()))
            .disk(DiskSpec.file("/images/owner.qcow2", DiskSpec.Format.QCOW2))
            .disk(SEED)
            .networkInterface(
                InterfaceSpec.network("default").withMac(MacAddress.parse("00:16:3e:11:22:33")))
            .serial(new SerialSpec("/var/log/graft/owner.log"))
            .spareSlots(8)
            .hostdev(vf())
            .build());
  }

  @Test
  void noKindOfGuestHasWhatOnlyQemuGuestsHave() {
    for (Virtualization kind : List.of(Virtualization.HVM, Virtualization.PVH, Virtualization.PV)) {
      assertThat(XEN.features(HOST, kind))
          .contains(GuestFeature.valueOf(kind.name()), GuestFeature.CPU_PINNING)
          .doesNotContain(
              GuestFeature.GUEST_AGENT,
              GuestFeature.USER_NETWORK,
              GuestFeature.SHARED_MEMORY,
              GuestFeature.VSOCK,
              GuestFeature.HUGE_PAGES,
              GuestFeature.NUMA_TUNING);
    }
  }

  @Test
  void whatIsMissingIsNamedAtOnce() {
    DomainSpec spec =
        kernel(Virtualization.PV).channel(ChannelSpec.GUEST_AGENT).vsock(VsockSpec.of(42)).build();
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> XEN.domainXml(spec, HOST))
        .satisfies(
            e ->
                assertThat(e.missing())
                    .containsExactlyInAnyOrder(GuestFeature.GUEST_AGENT, GuestFeature.VSOCK));
  }

  @Test
  void pvhGuestsHaveNoDevicesOfTheHost() {
    DomainSpec spec = kernel(Virtualization.PVH).hostdev(vf()).build();
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> XEN.domainXml(spec, HOST))
        .withMessageContaining("no PVH guest of Xen")
        .satisfies(e -> assertThat(e.missing()).containsExactly(GuestFeature.PCI_PASSTHROUGH));
  }

  @Test
  void theKindFitsWhatTheGuestIs() {
    assertThat(XEN.kind(HOST, true, false)).isEqualTo(Virtualization.PVH);
    assertThat(XEN.kind(HOST, true, true)).isEqualTo(Virtualization.PV);
    assertThat(XEN.kind(HOST, false, true)).isEqualTo(Virtualization.HVM);
    assertThat(XEN.kind(host(List.of("xen")), false, false)).isEqualTo(Virtualization.PV);
  }

  @Test
  void whyNoDeviceCanBePassed() {
    String caps = "virt_caps : pv hvm\nxen_version : 4.17.5\n";
    assertThat(why(caps + "xen_commandline : dom0_mem=4G iommu=verbose,off"))
        .contains("turned off on Xen's command line", "iommu=verbose,off");
    assertThat(why(caps + "xen_commandline : dom0_mem=4G iommu=verbose"))
        .contains("Xen 4.17.5 uses no IOMMU", "BIOS");
    assertThat(why("virt_caps : pv hvm pv_directio")).isEmpty();
  }

  private static String why(String info) {
    return RunningXen.parse(info, true).obstacle(Virtualization.PV);
  }

  @Test
  void consolesAreLoggedIfXenconsoledWasToldTo(@TempDir Path proc) throws IOException {
    Path daemon = Files.createDirectories(proc.resolve("407"));
    Files.writeString(daemon.resolve("cmdline"), "/usr/lib/xen/bin/xenconsoled\0--pid-file=x\0");
    assertThat(RunningXen.logsConsoles(proc)).isFalse();
    Files.writeString(daemon.resolve("cmdline"), "/usr/lib/xen/bin/xenconsoled\0--log=guest\0");
    assertThat(RunningXen.logsConsoles(proc)).isTrue();
    XenHypervisor silent = new XenHypervisor(host -> RunningXen.parse("", false));
    assertThat(XEN.consoleLog(HOST, Virtualization.PV, "a"))
        .contains(Path.of("/var/log/xen/console/guest-a.log"));
    assertThat(XEN.consoleLog(HOST, Virtualization.HVM, "a")).isEmpty();
    assertThat(silent.consoleLog(HOST, Virtualization.PV, "a")).isEmpty();
    assertThat(silent.warnings(HOST)).singleElement().asString().contains("--log=guest");
  }

  @Test
  void withoutAnIommuOnlyParavirtualizedGuestsHaveDevices() {
    XenHypervisor xen =
        new XenHypervisor(host -> RunningXen.parse("virt_caps : pv hvm pv_directio", true));
    assertThat(xen.domainXml(kernel(Virtualization.PV).hostdev(vf()).build(), HOST)).isNotNull();
    DomainSpec hvm = kernel(Virtualization.HVM).hostdev(vf()).build();
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> xen.domainXml(hvm, HOST));
  }

  @Test
  void aXenWithoutAKindOfGuestRefusesIt() {
    HostCapabilities pvOnly = host(List.of("xen"));
    DomainSpec spec = kernel(Virtualization.HVM).build();
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> XEN.domainXml(spec, pvOnly))
        .withMessageContaining("HVM guests");
    assertThat(XEN.features(pvOnly, Virtualization.HVM)).doesNotContain(GuestFeature.HVM);
  }

  @Test
  void readsWhatXlPrints() {
    String info =
        """
        host                   : graft-lab
        virt_caps              : pv hvm hvm_directio pv_directio hap shadow iommu_hap_pt_share
        total_memory           : 2799
        """;
    assertThat(RunningXen.parse(info, true).capabilities())
        .contains("hvm_directio", "hap")
        .hasSize(7);
    assertThat(RunningXen.parse("", true).capabilities()).isEmpty();
  }

  private static DomainSpec.Builder kernel(Virtualization kind) {
    return DomainSpec.named("xen-1")
        .virtualization(kind)
        .memory(MemorySize.ofMib(256))
        .boot(
            new Boot.DirectKernel(
                "/var/lib/graft/vmlinuz", Optional.of("/var/lib/graft/initramfs"), "console=hvc0"))
        .networkInterface(InterfaceSpec.network("lab"))
        .metadata(GuestMetadata.of("xen"));
  }

  private static HostdevSpec vf() {
    return new HostdevSpec.Pci(PciAddress.parse("0000:04:10.0"));
  }

  static HostCapabilities host(List<String> osTypes) {
    return host("Xen", osTypes);
  }

  static HostCapabilities host(String hypervisor, List<String> osTypes) {
    return new HostCapabilities(
        LibvirtUri.XEN_SYSTEM,
        "node1",
        hypervisor,
        Optional.of(new Version(4, 17, 0)),
        new Version(9, 0, 0),
        "x86_64",
        8,
        MemorySize.ofGib(16),
        List.of(),
        false,
        osTypes.stream()
            .map(
                type ->
                    new GuestArchitecture(
                        type, "x86_64", Optional.empty(), List.of(), Set.of("xen")))
            .toList());
  }

  /**
   * Compares the domain XML with a golden file. With {@code -Dgolden.update=true} the test writes
   * the file, for review.
   */
  private static void golden(String name, DomainSpec spec) {
    String xml = Xml.print(XEN.domainXml(spec, HOST));
    Path file = Path.of("src/test/resources/graft/hypervisors/xen").resolve(name);
    try {
      if (Boolean.getBoolean("golden.update")) {
        Files.createDirectories(file.getParent());
        Files.writeString(file, xml);
      }
      assertThat(xml).as("see %s", file).isEqualTo(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
