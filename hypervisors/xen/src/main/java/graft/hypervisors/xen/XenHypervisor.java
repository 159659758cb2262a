package graft.hypervisors.xen;

import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.HostCapabilities;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.hypervisors.libvirt.domain.CpuTuneElement;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.LifecycleElements;
import graft.hypervisors.libvirt.domain.MemoryElements;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Xen guests of all kinds, through libvirt's libxl driver. */
public final class XenHypervisor implements Hypervisor {

  private static final String DOMAIN_TYPE = "xen";

  /**
   * What the libxl driver does for some kind of guest. It knows no guest agent, no user-mode
   * network, no ivshmem, no vsock, no backing of memory and no {@code <numatune>}.
   *
   * @see <a href="https://libvirt.org/drvxen.html">libvirt's libxl driver</a>
   */
  private static final Set<GuestFeature> DRIVER =
      EnumSet.of(
          GuestFeature.HARDWARE_ACCELERATION,
          GuestFeature.CPU_PINNING,
          GuestFeature.DIRECT_KERNEL_BOOT,
          GuestFeature.LIBVIRT_NETWORK,
          GuestFeature.HOST_BRIDGE,
          GuestFeature.CONSOLE_LOG);

  private final Function<HostCapabilities, XenCapabilities> running;

  public XenHypervisor() {
    this(XenCapabilities::of);
  }

  XenHypervisor(Function<HostCapabilities, XenCapabilities> running) {
    this.running = running;
  }

  @Override
  public String name() {
    return "xen";
  }

  @Override
  public boolean accepts(HostCapabilities host) {
    return host.hypervisor().equals("Xen") && host.offersDomainType(DOMAIN_TYPE);
  }

  /** What at least one kind of guest can have. */
  @Override
  public Set<GuestFeature> features(HostCapabilities host) {
    Set<GuestFeature> features = EnumSet.noneOf(GuestFeature.class);
    XenCapabilities xen = running.apply(host);
    for (Virtualization kind : Virtualization.values()) {
      if (host.nativeGuest(OsElement.osType(kind)).isPresent()) {
        features.addAll(features(host, xen, kind));
      }
    }
    return features;
  }

  private static Set<GuestFeature> features(
      HostCapabilities host, XenCapabilities xen, Virtualization kind) {
    Set<GuestFeature> features = EnumSet.copyOf(DRIVER);
    if (host.nativeGuest(OsElement.osType(kind)).isPresent()) {
      features.add(GuestFeature.valueOf(kind.name()));
    }
    if (xen.passesDevicesTo(kind)) {
      features.add(GuestFeature.PCI_PASSTHROUGH);
    }
    if (kind != Virtualization.HVM) {
      features.remove(GuestFeature.CONSOLE_LOG); // theirs is a pty: xenconsoled may log it
    }
    return features;
  }

  @Override
  public List<String> warnings(HostCapabilities host) {
    return List.of();
  }

  @Override
  public void check(DomainSpec spec, HostCapabilities host) {
    Set<GuestFeature> missing = GuestFeature.requiredBy(spec);
    missing.removeAll(features(host, running.apply(host), spec.virtualization()));
    if (!missing.isEmpty()) {
      throw new UnsupportedFeatureException(spec.name(), name(), host.uri(), missing);
    }
  }

  @Override
  public Document domainXml(DomainSpec spec, HostCapabilities host) {
    check(spec, host);
    Document document = Xml.newDocument("domain");
    Element domain = document.getDocumentElement();
    domain.setAttribute("type", DOMAIN_TYPE);
    Xml.add(domain, "name", spec.name());
    spec.uuid().ifPresent(uuid -> Xml.add(domain, "uuid", uuid.toString()));
    spec.metadata()
        .ifPresent(
            metadata -> Xml.add(domain, "metadata").appendChild(metadata.toElement(document)));
    MemoryElements.append(domain, spec.memory());
    Xml.add(domain, "vcpu", Integer.toString(spec.cpus()));
    spec.cpuTune().ifPresent(tune -> CpuTuneElement.append(domain, tune));
    OsElement.append(domain, spec, host.arch());
    if (spec.virtualization() == Virtualization.HVM) {
      Element features = Xml.add(domain, "features");
      Xml.add(features, "acpi");
      Xml.add(features, "apic");
    }
    LifecycleElements.append(domain, spec.onReboot());
    DevicesElement.append(domain, spec);
    return document;
  }
}
