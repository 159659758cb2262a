package graft.hypervisors.lxc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.common.values.MacAddress;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LxcHypervisorTest {
  private static final HostCapabilities HOST = host("LXC", "exe", "lxc");
  private static final LxcHypervisor LXC = new LxcHypervisor();

  static HostCapabilities host(String driver, String osType, String domainType) {
    return new HostCapabilities(
        LibvirtUri.parse(domainType.equals("lxc") ? "lxc:///system" : "qemu:///system"),
        "host",
        driver,
        Optional.of(new Version(6, 1, 0)),
        new Version(9, 0, 0),
        "x86_64",
        8,
        MemorySize.ofMib(16384),
        List.of(),
        false,
        List.of(
            new GuestArchitecture(
                osType,
                "x86_64",
                Optional.of("/usr/lib/libvirt/libvirt_lxc"),
                List.of(),
                Set.of(domainType))));
  }

  private static DomainSpec.Builder container() {
    return DomainSpec.named("lxc-1")
        .virtualization(Virtualization.CONTAINER)
        .boot(
            new Boot.Container(
                "/images/lxc-1/root",
                "/init",
                new Boot.IdRange(1_342_177_280L, 65_536),
                List.of(new Boot.SharedFolder("/sockets/lxc-1", "/var/lib/graft/server"))));
  }

  @Test
  void aContainerWithAllThatItCanHave() throws IOException {
    DomainSpec spec =
        container()
            .cpus(2)
            .memory(MemorySize.ofMib(256))
            .cpuTune(CpuTune.pins(Map.of(0, CpuSet.of(4), 1, CpuSet.of(6))))
            .numaTune(new NumaTune(CpuSet.of(1), NumaTune.Mode.STRICT))
            .networkInterface(
                InterfaceSpec.network("default").withMac(MacAddress.parse("52:54:00:11:22:33")))
            .hostdev(new HostdevSpec.Node("/dev/nvidia0"))
            .hostdev(new HostdevSpec.Interface("ens59f0v0"))
            .build();
    try (InputStream golden = LxcHypervisorTest.class.getResourceAsStream("container.xml")) {
      assertThat(Xml.print(LXC.domainXml(spec, HOST)).strip())
          .isEqualTo(new String(golden.readAllBytes(), StandardCharsets.UTF_8).strip());
    }
  }

  @Test
  void whatAContainerCannotHaveIsRefusedWithTheReason() {
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(
            () ->
                LXC.domainXml(
                    container().disk(DiskSpec.file("/a", DiskSpec.Format.RAW)).build(), HOST))
        .withMessageContaining("disks")
        .withMessageContaining("its root folder is its disk");
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(
            () ->
                LXC.domainXml(
                    container()
                        .boot(new Boot.DirectKernel("/vmlinuz", Optional.empty(), ""))
                        .build(),
                    HOST))
        .withMessageContaining("a container runs the host's kernel");
  }

  /** The host's root must not be the container's. */
  @Test
  void noContainerHasTheUsersOfTheHost() {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> new Boot.IdRange(0, 65_536));
  }
}
