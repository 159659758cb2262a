package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.VsockSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KvmHypervisorTest {

  private static final HostCapabilities HOST = Hosts.qemu("qemu:///system");

  /** All features of KVM, which runs fully virtualized machines only. */
  private static final Set<GuestFeature> EVERYTHING =
      EnumSet.complementOf(
          EnumSet.of(
              GuestFeature.PVH,
              GuestFeature.PV,
              GuestFeature.CONTAINER,
              GuestFeature.FILTERED_DEVICES));

  @TempDir Path root;

  @Test
  void acceptsHostsOfQemuOnly() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withKvm(root));
    assertThat(kvm.name()).isEqualTo("kvm");
    assertThat(kvm.accepts(HOST)).isTrue();
    assertThat(kvm.accepts(Hosts.xen())).isFalse();
  }

  @Test
  void emulatesWhereKvmDoesNotWorkAndSaysWhy() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withoutKvm(root));
    assertThat(kvm.acceleration(HOST)).isEqualTo(Acceleration.EMULATION);
    assertThat(kvm.features(HOST, Virtualization.HVM))
        .doesNotContain(GuestFeature.HARDWARE_ACCELERATION);
    assertThat(kvm.warnings(HOST))
        .singleElement()
        .asString()
        .contains("emulated")
        .contains("/dev/kvm does not exist");
  }

  @Test
  void believesLibvirtThatItDoesNotOfferKvm() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withKvm(root));
    HostCapabilities host = Hosts.qemu("qemu:///system", Set.of("qemu"), true);
    assertThat(kvm.acceleration(host)).isEqualTo(Acceleration.EMULATION);
    assertThat(kvm.warnings(host)).singleElement().asString().contains("does not offer KVM");
  }

  @Test
  void thisMachinesFilesSayNothingOfARemoteHost() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withoutKvm(root));
    HostCapabilities remote = Hosts.qemu("qemu+ssh://root@node1/system");
    assertThat(kvm.acceleration(remote)).isEqualTo(Acceleration.KVM);
    assertThat(kvm.features(remote, Virtualization.HVM)).isEqualTo(EVERYTHING);
    assertThat(kvm.warnings(remote)).isEmpty();
  }

  @Test
  void aHostWithEverythingCanDoEverything() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withKvm(root));
    assertThat(kvm.features(HOST, Virtualization.HVM)).isEqualTo(EVERYTHING);
    assertThat(kvm.warnings(HOST)).isEmpty();
  }

  @Test
  void whatTheHostLacksItsGuestsLack() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withoutKvm(root));
    HostCapabilities host = Hosts.qemu("qemu:///system", Set.of("qemu"), false);
    assertThat(EnumSet.complementOf(EnumSet.copyOf(kvm.features(host, Virtualization.HVM))))
        .containsExactlyInAnyOrder(
            GuestFeature.HARDWARE_ACCELERATION,
            GuestFeature.PCI_PASSTHROUGH,
            GuestFeature.FILTERED_DEVICES,
            GuestFeature.VSOCK,
            GuestFeature.UEFI,
            GuestFeature.PVH,
            GuestFeature.PV,
            GuestFeature.CONTAINER);
  }

  @Test
  void aUsersOwnDaemonCannotDoWhatNeedsRoot() {
    // The test's root folder has no /proc/self, so that this process does not count as root.
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withKvm(root));
    assertThat(kvm.features(Hosts.qemu("qemu:///session"), Virtualization.HVM))
        .contains(GuestFeature.USER_NETWORK, GuestFeature.HARDWARE_ACCELERATION)
        .doesNotContain(
            GuestFeature.PCI_PASSTHROUGH,
            GuestFeature.LIBVIRT_NETWORK,
            GuestFeature.HUGE_PAGES,
            GuestFeature.LOCKED_MEMORY);
  }

  @Test
  void refusesAGuestThatNeedsWhatIsMissingAndNamesAllOfIt() {
    KvmHypervisor kvm = new KvmHypervisor(Hosts.withoutKvm(root));
    DomainSpec spec =
        DomainSpec.named("a")
            .boot(new Boot.DirectKernel("/k", Optional.empty(), ""))
            .vsock(VsockSpec.automatic())
            .hostdev(new HostdevSpec.Pci(PciAddress.parse("0000:04:10.0")))
            .build();
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> kvm.domainXml(spec, Hosts.qemu("qemu:///system", Set.of("qemu"), false)))
        .satisfies(
            e ->
                assertThat(e.missing())
                    .containsExactlyInAnyOrder(GuestFeature.VSOCK, GuestFeature.PCI_PASSTHROUGH))
        .withMessageContaining("guest 'a'");
  }

  @Test
  void kernelGuestWithKvm() {
    golden("kernel-kvm.xml", new KvmHypervisor(Hosts.withKvm(root)), Guests.kernel("demo-1"));
  }

  @Test
  void kernelGuestEmulated() {
    golden(
        "kernel-emulated.xml", new KvmHypervisor(Hosts.withoutKvm(root)), Guests.kernel("demo-1"));
  }

  @Test
  void cloudGuest() {
    golden("cloud-kvm.xml", new KvmHypervisor(Hosts.withKvm(root)), Guests.cloud("web"));
  }

  @Test
  void ownerOfAGpu() {
    golden("owner-kvm.xml", new KvmHypervisor(Hosts.withKvm(root)), Guests.owner("owner"));
  }

  private static void golden(String file, KvmHypervisor kvm, DomainSpec spec) {
    GoldenFile.check(file, Xml.print(kvm.domainXml(spec, HOST)));
  }
}
