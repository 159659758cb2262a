package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.values.MacAddress;
import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.MemoryBacking;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.VsockSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * The rules that every hypervisor has to satisfy: an offered feature appears in the domain XML in a
 * form that libvirt accepts, a feature that is not offered is rejected by its name before anything
 * is created, and the elements that all hypervisors share are equal. Each hypervisor has a test
 * class that extends this one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class HypervisorContract {
  private static final UUID ID = UUID.fromString("b2de785c-944e-4b86-8913-e4e399fada0a");
  private static final HostdevSpec FUNCTION = new HostdevSpec.Pci(PciAddress.parse("0000:04:10.0"));

  /** The hypervisor, on a machine that supports all features of this hypervisor. */
  protected abstract Hypervisor hypervisor();

  /** libvirt's report about that machine. */
  protected abstract HostCapabilities host();

  /** libvirt's report about a machine with another hypervisor. */
  protected abstract HostCapabilities anotherHost();

  /** The kinds of guests that the hypervisor runs on that machine. */
  private List<Virtualization> kinds() {
    return Stream.of(Virtualization.values())
        .filter(
            kind -> hypervisor().features(host(), kind).contains(GuestFeature.valueOf(kind.name())))
        .toList();
  }

  private static DomainSpec.Builder bare(Virtualization kind) {
    return DomainSpec.named("alice")
        .uuid(ID)
        .cpus(2)
        .memory(MemorySize.ofMib(768))
        .virtualization(kind)
        .boot(boot(kind))
        .metadata(GuestMetadata.of("lab", Map.of("spec", "sha256:12")));
  }

  /** A guest of a kind, with its root on a disk if it is a machine. */
  private static DomainSpec.Builder plain(Virtualization kind) {
    return kind == Virtualization.CONTAINER
        ? bare(kind)
        : bare(kind).disk(DiskSpec.file("/images/alice.qcow2", DiskSpec.Format.QCOW2));
  }

  private static Boot boot(Virtualization kind) {
    return kind == Virtualization.CONTAINER
        ? new Boot.Container(
            "/images/alice/root",
            "/sbin/init",
            new Boot.IdRange(1_000_000, 65_536),
            List.of(new Boot.SharedFolder("/sockets/alice", "/var/lib/graft/server")))
        : new Boot.FromDisk(Boot.Firmware.BIOS);
  }

  /**
   * For each feature that a guest can need, the setting by which a guest needs only this feature.
   */
  private static Map<GuestFeature, Consumer<DomainSpec.Builder>> needs() {
    return Map.ofEntries(
        Map.entry(GuestFeature.GUEST_AGENT, g -> g.channel(ChannelSpec.GUEST_AGENT)),
        Map.entry(
            GuestFeature.SHARED_MEMORY,
            g -> g.sharedMemory(new ShmemSpec("ring", MemorySize.ofMib(64)))),
        Map.entry(GuestFeature.VSOCK, g -> g.vsock(VsockSpec.of(42))),
        Map.entry(GuestFeature.PCI_PASSTHROUGH, g -> g.hostdev(FUNCTION)),
        Map.entry(GuestFeature.MEDIATED_DEVICES, g -> g.hostdev(new HostdevSpec.Mediated(ID))),
        Map.entry(GuestFeature.DEVICE_NODES, g -> g.hostdev(new HostdevSpec.Node("/dev/a"))),
        Map.entry(
            GuestFeature.NETWORK_INTERFACES, g -> g.hostdev(new HostdevSpec.Interface("eth7"))),
        Map.entry(
            GuestFeature.HUGE_PAGES,
            g ->
                g.memoryBacking(new MemoryBacking(Optional.of(MemorySize.ofMib(2)), false, false))),
        Map.entry(
            GuestFeature.LOCKED_MEMORY,
            g -> g.memoryBacking(new MemoryBacking(Optional.empty(), true, false))),
        Map.entry(
            GuestFeature.NUMA_TUNING,
            g -> g.numaTune(new NumaTune(CpuSet.of(0), NumaTune.Mode.STRICT))),
        Map.entry(
            GuestFeature.CPU_PINNING,
            g -> g.cpuTune(CpuTune.pins(Map.of(0, CpuSet.of(4), 1, CpuSet.of(5))))),
        Map.entry(
            GuestFeature.DIRECT_KERNEL_BOOT,
            g ->
                g.boot(
                    new Boot.DirectKernel(
                        "/boot/vmlinuz", Optional.of("/boot/initramfs"), "quiet"))),
        Map.entry(GuestFeature.UEFI, g -> g.boot(new Boot.FromDisk(Boot.Firmware.UEFI))),
        Map.entry(GuestFeature.USER_NETWORK, g -> g.networkInterface(InterfaceSpec.userMode())),
        Map.entry(
            GuestFeature.LIBVIRT_NETWORK,
            g -> g.networkInterface(InterfaceSpec.network("default"))),
        Map.entry(
            GuestFeature.NETWORK_FILTER,
            g -> g.networkInterface(InterfaceSpec.network("default").withCleanTraffic())),
        Map.entry(GuestFeature.HOST_BRIDGE, g -> g.networkInterface(InterfaceSpec.bridge("br0"))),
        Map.entry(
            GuestFeature.DISKS,
            g -> g.disk(DiskSpec.file("/images/data.raw", DiskSpec.Format.RAW))),
        Map.entry(GuestFeature.CDROM, g -> g.disk(DiskSpec.cdromVolume("graft", "seed.iso"))),
        Map.entry(
            GuestFeature.CONSOLE_LOG, g -> g.serial(new SerialSpec("/var/log/graft/alice.log"))),
        Map.entry(GuestFeature.HIDDEN_HYPERVISOR, g -> g.hideHypervisor(true)));
  }

  private static DomainSpec guest(Virtualization kind, GuestFeature need) {
    DomainSpec.Builder guest = plain(kind);
    needs().get(need).accept(guest);
    return guest.build();
  }

  final Stream<Arguments> everyNeed() {
    return kinds().stream()
        .flatMap(
            kind ->
                needs().keySet().stream()
                    .filter(need -> isPossible(kind, need))
                    .sorted()
                    .map(need -> Arguments.of(kind, need)));
  }

  /** A container boots neither firmware nor a disk, so that no spec has both. */
  private static boolean isPossible(Virtualization kind, GuestFeature need) {
    return kind != Virtualization.CONTAINER || need != GuestFeature.UEFI;
  }

  final Stream<Virtualization> everyKind() {
    return kinds().stream();
  }

  @Test
  void takesItsOwnHostsAlone() {
    assertThat(hypervisor().accepts(host())).isTrue();
    assertThat(hypervisor().accepts(anotherHost())).isFalse();
    assertThat(hypervisor().name()).matches("[a-z]+");
    assertThat(hypervisor().deviceDriver()).isNotBlank();
  }

  @Test
  void whatAGuestCanNeedIsAllTried() {
    Set<GuestFeature> neverNeeded =
        EnumSet.of(
            GuestFeature.HARDWARE_ACCELERATION, // only leads to a warning if missing
            GuestFeature.FILTERED_DEVICES, // checked by the planner, for devices
            GuestFeature.HOT_PLUG, // a guest without it restarts
            GuestFeature.HVM,
            GuestFeature.PVH,
            GuestFeature.PV,
            GuestFeature.CONTAINER);
    assertThat(EnumSet.complementOf(EnumSet.copyOf(neverNeeded)))
        .isEqualTo(EnumSet.copyOf(needs().keySet()));
    needs()
        .keySet()
        .forEach(
            feature ->
                assertThat(GuestFeature.requiredBy(guest(Virtualization.HVM, feature)))
                    .isEqualTo(neededWith(feature)));
  }

  /** A filter belongs to a card on a network of libvirt, which is a need of its own. */
  private static Set<GuestFeature> neededWith(GuestFeature feature) {
    EnumSet<GuestFeature> all = EnumSet.of(GuestFeature.HVM, GuestFeature.DISKS, feature);
    if (feature == GuestFeature.NETWORK_FILTER) {
      all.add(GuestFeature.LIBVIRT_NETWORK);
    }
    return all;
  }

  /**
   * An offered feature appears in the guest's XML; a feature that is not offered is rejected by its
   * name.
   */
  @ParameterizedTest
  @MethodSource("everyNeed")
  void whatAGuestNeedsItGetsOrIsRefused(Virtualization kind, GuestFeature feature) {
    DomainSpec spec = guest(kind, feature);
    if (hypervisor().features(host(), kind).contains(feature)) {
      assertThat(Xml.print(hypervisor().domainXml(spec, host())))
          .isNotEqualTo(Xml.print(hypervisor().domainXml(plain(kind).build(), host())))
          .isEqualTo(Xml.print(hypervisor().domainXml(spec, host())));
    } else {
      assertThatExceptionOfType(UnsupportedFeatureException.class)
          .isThrownBy(() -> hypervisor().domainXml(spec, host()))
          .withMessageContaining("alice")
          .withMessageContaining(feature.words())
          .satisfies(e -> assertThat(e.missing()).containsExactly(feature));
    }
  }

  @ParameterizedTest
  @MethodSource("everyKind")
  void whatAllGuestsHaveReadsTheSame(Virtualization kind) {
    boolean disks = hypervisor().features(host(), kind).contains(GuestFeature.DISKS);
    DomainSpec.Builder guest = plain(kind);
    if (disks) {
      guest.disk(DiskSpec.file("/images/data.raw", DiskSpec.Format.RAW));
    }
    DomainSpec spec =
        guest
            .networkInterface(
                InterfaceSpec.network("default").withMac(MacAddress.parse("52:54:00:11:22:33")))
            .networkInterface(InterfaceSpec.bridge("br0"))
            .build();
    Element domain = hypervisor().domainXml(spec, host()).getDocumentElement();
    Element devices = Xml.find(domain, "devices").orElseThrow();
    assertThat(text(domain, "name")).isEqualTo("alice");
    assertThat(text(domain, "uuid")).isEqualTo(ID.toString());
    assertThat(text(domain, "vcpu")).isEqualTo("2");

    assertThat(text(domain, "memory")).isEqualTo("786432"); // in KiB
    Element metadata = Xml.find(domain, "metadata").orElseThrow();
    assertThat(
            GuestMetadata.fromElement(
                (Element) metadata.getElementsByTagNameNS("*", "guest").item(0)))
        .isEqualTo(spec.metadata().orElseThrow());
    assertThat(sources(devices, "disk", "file"))
        .containsExactlyElementsOf(
            disks ? List.of("/images/alice.qcow2", "/images/data.raw") : List.of());
    assertThat(Xml.children(devices, "interface"))
        .extracting(i -> i.getAttribute("type"))
        .containsExactly("network", "bridge");
  }

  private static String text(Element parent, String name) {
    return Xml.find(parent, name).orElseThrow().getTextContent();
  }

  private static List<String> sources(Element devices, String element, String attribute) {
    return Xml.children(devices, element).stream()
        .map(device -> Xml.find(device, "source").orElseThrow().getAttribute(attribute))
        .toList();
  }

  /** Graft binds devices itself under every hypervisor, so that a plan shows the steps. */
  @Test
  void devicesOfTheHostAreNeverBoundByLibvirt() {
    Virtualization kind = hypervisor().kind(host(), true, true);
    assumeTrue(hypervisor().features(host(), kind).contains(GuestFeature.PCI_PASSTHROUGH));
    Document xml = hypervisor().domainXml(plain(kind).hostdev(FUNCTION).build(), host());
    Element devices = Xml.find(xml.getDocumentElement(), "devices").orElseThrow();
    assertThat(Xml.children(devices, "hostdev"))
        .singleElement()
        .satisfies(device -> assertThat(device.getAttribute("managed")).isEqualTo("no"));
  }

  private boolean passesDevices() {
    return kinds().stream()
        .anyMatch(k -> hypervisor().features(host(), k).contains(GuestFeature.PCI_PASSTHROUGH));
  }

  /** A guest without an explicit kind gets a kind that this host runs. */
  @Test
  void everyGuestHasAKind() {
    for (boolean kernel : new boolean[] {true, false}) {
      for (boolean devices : new boolean[] {true, false}) {
        Virtualization kind = hypervisor().kind(host(), kernel, devices);
        assertThat(kinds()).contains(kind);
        if (devices && passesDevices()) {
          assertThat(hypervisor().features(host(), kind)).contains(GuestFeature.PCI_PASSTHROUGH);
        }
      }
    }
  }

  /**
   * libvirt's schema contains the elements of all drivers, including those that this machine's
   * daemon lacks.
   */
  @Tag("integration")
  @ParameterizedTest
  @MethodSource("everyKind")
  void libvirtsSchemaTakesAGuestWithAllThatIsOffered(Virtualization kind, @TempDir Path folder)
      throws IOException, InterruptedException {
    Set<GuestFeature> offered = hypervisor().features(host(), kind);
    List<DomainSpec.Builder> guests = new ArrayList<>(List.of(plain(kind), plain(kind)));
    needs()
        .forEach(
            (feature, need) -> {
              if (offered.contains(feature)) {
                // The second guest boots a kernel directly, which excludes features of the first
                // guest.
                boolean boot = feature == GuestFeature.DIRECT_KERNEL_BOOT;
                need.accept(guests.get(boot ? 1 : 0));
              }
            });
    for (DomainSpec.Builder guest : guests) {
      Path file = folder.resolve("guest.xml");
      Files.writeString(file, Xml.print(hypervisor().domainXml(guest.build(), host())));
      Process check =
          new ProcessBuilder("virt-xml-validate", file.toString(), "domain")
              .redirectErrorStream(true)
              .start();
      String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(check.waitFor()).as(said + Files.readString(file)).isZero();
    }
  }
}
