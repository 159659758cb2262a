package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.Network;
import graft.hypervisors.libvirt.Networks;
import graft.hypervisors.libvirt.calls.AddressSource;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;

/** Tests the real system daemon without running a guest. */
@Tag("integration")
class KvmHostIntegrationTest {

  private static final String NAME = "libvirttest-host-" + ProcessHandle.current().pid();

  @TempDir Path folder;

  private final LibvirtHost host = LibvirtHost.open("qemu:///system");

  /** The hypervisor runs as another user, who must be able to read the files. */
  @BeforeEach
  void open() throws IOException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @BeforeEach
  @AfterEach
  void clean() {
    try (LibvirtHost cleaner = LibvirtHost.open("qemu:///system")) {
      cleaner
          .guest(NAME)
          .ifPresent(
              guest -> {
                guest.destroy();
                guest.undefine();
              });
      Networks networks = cleaner.networks();
      if (networks.find(NAME).isPresent()) {
        networks.destroy(NAME);
        networks.undefine(NAME);
      }
    }
  }

  @AfterEach
  void close() {
    host.close();
  }

  @Test
  void tellsWhatTheHostIs() throws Exception {
    HostCapabilities capabilities = host.capabilities();
    assertThat(capabilities.hypervisor()).isEqualTo("QEMU");
    assertThat(capabilities.cpus()).isEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(capabilities.nativeGuest("hvm").orElseThrow().emulator().map(Path::of))
        .hasValueSatisfying(emulator -> assertThat(emulator).isExecutable());
    assertThat(new KvmHypervisor().accepts(capabilities)).isTrue();
    assertThat(host.freeMemory()).isGreaterThan(MemorySize.ofMib(1));
  }

  static Stream<DomainSpec> everyKindOfGuest() {
    return Stream.of(Guests.kernel(NAME), Guests.cloud(NAME), Guests.owner(NAME));
  }

  /**
   * The test pretends to be a remote host with an IOMMU, so that the XML contains every element.
   */
  @ParameterizedTest
  @MethodSource("everyKindOfGuest")
  void libvirtsSchemaTakesEveryKindOfGuest(DomainSpec spec) {
    Set<String> types = host.capabilities().nativeGuest("hvm").orElseThrow().domainTypes();
    Document xml =
        new KvmHypervisor().domainXml(spec, Hosts.qemu("qemu+ssh://node1/system", types, true));
    Guest guest = host.define(xml);
    assertThat(guest.name()).isEqualTo(NAME);
    assertThat(guest.state()).isEqualTo(GuestState.SHUT_OFF);
    assertThat(
            Xml.children(
                Xml.find(guest.xml().getDocumentElement(), "devices").orElseThrow(), "hostdev"))
        .allMatch(hostdev -> hostdev.getAttribute("managed").equals("no"));
    guest.undefine();
    assertThat(host.guest(NAME)).isEmpty();
  }

  @Test
  void aNameIsTakenOnce() {
    DomainSpec.Builder spec =
        DomainSpec.named(NAME).boot(new Boot.DirectKernel("/vmlinuz", Optional.empty(), ""));
    host.define(xml(spec.uuid(UUID.randomUUID()).build()));
    Document other = xml(spec.uuid(UUID.randomUUID()).build());
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> host.define(other))
        .withMessageContaining("domain '" + NAME + "' already exists")
        .withMessageContaining("choose another name");
  }

  @Test
  void misspeltElementsAreRefused() {
    Document xml = xml(Guests.kernel(NAME));
    Xml.add(xml.getDocumentElement(), "memmory");
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> host.define(xml))
        .matches(e -> e.is(LibvirtError.Code.XML_INVALID_SCHEMA))
        .withMessageContaining("memmory");
  }

  @Test
  void aMissingKernelIsFoundAtTheStartWithItsPath() {
    Boot boot = new Boot.DirectKernel("/no/such/vmlinuz", Optional.empty(), "");
    Guest guest = host.define(xml(DomainSpec.named(NAME).boot(boot).build()));
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(guest::start)
        .withMessageContaining("cannot start guest '" + NAME)
        .withMessageContaining("/no/such/vmlinuz");
    assertThat(guest.state()).isEqualTo(GuestState.SHUT_OFF);
  }

  @Test
  void aGuestThatIsOffAnswersNothing() {
    Guest guest = host.define(xml(Guests.kernel(NAME)));
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> guest.agent().exec(AgentCommand.shell("true")))
        .matches(e -> e.is(LibvirtError.Code.OPERATION_INVALID))
        .withMessageContaining("not running");
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> guest.addresses(AddressSource.AGENT));
    assertThat(guest.destroy()).isFalse();
    assertThatExceptionOfType(HypervisorException.class).isThrownBy(guest::shutdown);
  }

  private Document xml(DomainSpec spec) {
    return new KvmHypervisor().domainXml(spec, host.capabilities());
  }

  @Test
  void networksLiveAndDie() {
    // The kernel limits the name of an interface to 15 characters.
    String bridge = "gt" + ProcessHandle.current().pid();
    Document xml = Xml.newDocument("network");
    Xml.add(xml.getDocumentElement(), "name", NAME);
    Xml.add(xml.getDocumentElement(), "bridge").setAttribute("name", bridge);
    Networks networks = host.networks();
    networks.define(xml);
    assertThat(networks.find(NAME)).map(Network::active).contains(false);
    networks.start(NAME);
    assertThat(networks.find(NAME)).map(Network::active).contains(true);
    assertThat(Path.of("/sys/class/net", bridge)).exists();
    assertThat(networks.destroy(NAME)).isTrue();
    assertThat(networks.destroy(NAME)).isFalse();
    networks.undefine(NAME);
    assertThat(networks.find(NAME)).isEmpty();
    assertThatExceptionOfType(NotFoundException.class).isThrownBy(() -> networks.xml(NAME));
  }

  @Test
  void guestsOnImagesStartByBiosAndByUefi() throws IOException {
    Path disk = Files.write(folder.resolve("disk.raw"), new byte[8 << 20]);
    Path seed = Files.write(folder.resolve("seed.iso"), new byte[1 << 20]);
    KvmHypervisor kvm = new KvmHypervisor();
    Boot.Firmware[] firmwares =
        kvm.features(host.capabilities(), Virtualization.HVM).contains(GuestFeature.UEFI)
            ? Boot.Firmware.values()
            : new Boot.Firmware[] {Boot.Firmware.BIOS};
    for (Boot.Firmware firmware : firmwares) {
      DomainSpec spec =
          DomainSpec.named(NAME)
              .memory(MemorySize.ofMib(128))
              .boot(new Boot.FromDisk(firmware))
              .disk(DiskSpec.file(disk.toString(), DiskSpec.Format.RAW))
              .disk(DiskSpec.cdrom(seed.toString()))
              .build();
      Guest guest = host.define(kvm.domainXml(spec, host.capabilities()));
      guest.start();
      assertThat(guest.state()).as("started by %s", firmware).isEqualTo(GuestState.RUNNING);
      guest.shutdown();
      assertThat(guest.destroy()).isTrue();
      guest.undefine();
    }
  }
}
