package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.CpuTuneElement;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.LifecycleElements;
import graft.hypervisors.libvirt.domain.MemoryElements;
import graft.hypervisors.libvirt.domain.NumaTuneElement;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Runs QEMU guests: accelerated by KVM if KVM works on the host, else emulated. */
public final class KvmHypervisor implements Hypervisor {

  static final String MACHINE = "q35";
  private static final String OS_TYPE = "hvm";

  /** The features that the daemon of an unprivileged user cannot provide. */
  private static final Set<GuestFeature> NEED_ROOT =
      Set.of(
          GuestFeature.PCI_PASSTHROUGH,
          GuestFeature.MEDIATED_DEVICES,
          GuestFeature.LIBVIRT_NETWORK,
          GuestFeature.NETWORK_FILTER,
          GuestFeature.HUGE_PAGES,
          GuestFeature.LOCKED_MEMORY);

  private final LocalHost local;

  public KvmHypervisor() {
    this(new LocalHost(Path.of("/")));
  }

  /** A hypervisor for a host whose {@code /dev}, {@code /proc} and {@code /usr} are in a folder. */
  public static KvmHypervisor under(Path root) {
    return new KvmHypervisor(new LocalHost(root));
  }

  KvmHypervisor(LocalHost local) {
    this.local = local;
  }

  @Override
  public String name() {
    return "kvm";
  }

  @Override
  public boolean accepts(HostCapabilities host) {
    return host.hypervisor().equals("QEMU")
        && host.nativeGuest(OS_TYPE).map(guest -> guest.machines().contains(MACHINE)).orElse(false);
  }

  /** Whether firmware for guests with UEFI is installed on this machine. */
  public static boolean hasUefi() {
    return new LocalHost(Path.of("/")).hasUefi();
  }

  /** How this host will execute a guest's instructions. */
  public Acceleration acceleration(HostCapabilities host) {
    return obstacle(host).isEmpty() ? Acceleration.KVM : Acceleration.EMULATION;
  }

  private boolean unprivileged(HostCapabilities host) {
    return host.uri().isSession() && !local.runsAsRoot();
  }

  /**
   * Only libvirt's report is available for a remote host; the files of a local host show the
   * reason.
   */
  private Optional<String> obstacle(HostCapabilities host) {
    Optional<String> here =
        host.uri().isLocal() ? local.kvmObstacle(unprivileged(host)) : Optional.empty();
    return here.or(
        () ->
            host.offersDomainType(Acceleration.KVM.domainType())
                ? Optional.empty()
                : Optional.of("libvirt at " + host.uri() + " does not offer KVM"));
  }

  @Override
  public Set<GuestFeature> features(HostCapabilities host, Virtualization kind) {
    Set<GuestFeature> features =
        EnumSet.complementOf(
            EnumSet.of(
                GuestFeature.PVH,
                GuestFeature.PV,
                GuestFeature.CONTAINER,
                GuestFeature.FILTERED_DEVICES));
    if (acceleration(host) != Acceleration.KVM) {
      features.remove(GuestFeature.HARDWARE_ACCELERATION);
    }
    if (unprivileged(host)) {
      features.removeAll(NEED_ROOT);
    }
    if (host.uri().isLocal() && !local.hasVsock()) {
      features.remove(GuestFeature.VSOCK);
    }
    if (host.uri().isLocal() && !local.hasUefi()) {
      features.remove(GuestFeature.UEFI);
    }
    if (!host.iommu()) {
      features.remove(GuestFeature.PCI_PASSTHROUGH);
    }
    return features;
  }

  @Override
  public String why(GuestFeature missing, HostCapabilities host, Virtualization kind) {
    if (NEED_ROOT.contains(missing) && unprivileged(host)) {
      return "only root's daemon, qemu:///system, has it";
    }
    return switch (missing) {
      case UEFI -> "no firmware for guests is installed: apt-get install ovmf";
      case VSOCK -> "there is no /dev/vhost-vsock: modprobe vhost_vsock";
      default -> "";
    };
  }

  @Override
  public List<String> warnings(HostCapabilities host) {
    return obstacle(host)
        .map(reason -> List.of("guests are emulated, some ten times slower: " + reason))
        .orElse(List.of());
  }

  @Override
  public Document domainXml(DomainSpec spec, HostCapabilities host) {
    check(spec, host);
    Acceleration acceleration = acceleration(host);
    Document document = Xml.newDocument("domain");
    Element domain = document.getDocumentElement();
    domain.setAttribute("type", acceleration.domainType());
    Xml.add(domain, "name", spec.name());
    spec.uuid().ifPresent(uuid -> Xml.add(domain, "uuid", uuid.toString()));
    spec.metadata().ifPresent(metadata -> metadata(domain, metadata));
    MemoryElements.append(domain, spec.memory(), spec.variableMemory());
    spec.memoryBacking().ifPresent(backing -> MemoryBackingElement.append(domain, backing));
    Xml.add(domain, "vcpu", Integer.toString(spec.cpus()));
    spec.cpuTune().ifPresent(tune -> CpuTuneElement.append(domain, tune));
    spec.numaTune().ifPresent(tune -> NumaTuneElement.append(domain, tune));
    OsElement.append(domain, spec.boot(), host.arch());
    FeaturesElement.append(domain, acceleration, spec.hideHypervisor());
    CpuElement.append(domain, acceleration, spec.cpus(), spec.hideHypervisor());
    LifecycleElements.append(domain, spec.onReboot());
    DevicesElement.append(domain, spec);
    spec.pciWindow().ifPresent(window -> CommandLineElement.append(domain, window));
    return document;
  }

  private static void metadata(Element domain, GuestMetadata metadata) {
    Xml.add(domain, "metadata").appendChild(metadata.toElement(domain.getOwnerDocument()));
  }
}
