package graft.hypervisors.lxc;

import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.LifecycleElements;
import graft.hypervisors.libvirt.domain.MemoryElements;
import graft.hypervisors.libvirt.domain.NumaTuneElement;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Linux containers with users of their own, through libvirt's LXC driver. */
public final class LxcHypervisor implements Hypervisor {
  private static final String DOMAIN_TYPE = "lxc";

  /** The OS type of a guest that is processes of the host's kernel. */
  private static final String OS_TYPE = "exe";

  /**
   * The features that the LXC driver supports. The driver has no consoles in files, no agents, and
   * no devices but interfaces and device nodes.
   *
   * @see <a href="https://libvirt.org/drvlxc.html">libvirt's LXC driver</a>
   */
  private static final Set<GuestFeature> DRIVER =
      EnumSet.of(
          GuestFeature.HARDWARE_ACCELERATION,
          GuestFeature.CPU_PINNING,
          GuestFeature.NUMA_TUNING,
          GuestFeature.DEVICE_NODES,
          GuestFeature.NETWORK_INTERFACES,
          GuestFeature.LIBVIRT_NETWORK,
          GuestFeature.HOST_BRIDGE);

  private static final String OWN_KERNEL =
      "a container runs the host's kernel, and has neither firmware nor a boot loader";

  @Override
  public String name() {
    return "lxc";
  }

  @Override
  public boolean accepts(HostCapabilities host) {
    return host.hypervisor().equals("LXC")
        && host.offersDomainType(DOMAIN_TYPE)
        && host.nativeGuest(OS_TYPE).isPresent();
  }

  @Override
  public Set<GuestFeature> features(HostCapabilities host, Virtualization kind) {
    Set<GuestFeature> features = EnumSet.copyOf(DRIVER);
    if (kind == Virtualization.CONTAINER) {
      features.add(GuestFeature.CONTAINER);
    }
    return features;
  }

  @Override
  public String why(GuestFeature missing, HostCapabilities host, Virtualization kind) {
    return switch (missing) {
      case DIRECT_KERNEL_BOOT, UEFI, HIDDEN_HYPERVISOR -> OWN_KERNEL;
      case DISKS, CDROM ->
          "the host's kernel would have to trust the file system that the container writes; its"
              + " root folder is its disk";
      case PCI_PASSTHROUGH, MEDIATED_DEVICES ->
          "vfio gives devices to virtual machines; a container gets device nodes and network"
              + " interfaces of the host's driver";
      case USER_NETWORK -> "write networks: [default], or another network of libvirt's";
      case HUGE_PAGES, LOCKED_MEMORY -> "its memory is that of processes of the host";
      case NETWORK_FILTER -> "Graft does not use libvirt's filters with containers";
      default -> "";
    };
  }

  @Override
  public Virtualization kind(HostCapabilities host, boolean kernel, boolean devices) {
    return Virtualization.CONTAINER;
  }

  @Override
  public List<String> warnings(HostCapabilities host) {
    return List.of();
  }

  @Override
  public Document domainXml(DomainSpec spec, HostCapabilities host) {
    check(spec, host);
    if (!(spec.boot() instanceof Boot.Container container)) {
      throw new IllegalArgumentException("guest '" + spec.name() + "' has no root folder");
    }
    Document document = Xml.newDocument("domain");
    Element domain = document.getDocumentElement();
    domain.setAttribute("type", DOMAIN_TYPE);
    Xml.add(domain, "name", spec.name());
    spec.uuid().ifPresent(uuid -> Xml.add(domain, "uuid", uuid.toString()));
    spec.metadata()
        .ifPresent(
            metadata -> Xml.add(domain, "metadata").appendChild(metadata.toElement(document)));
    MemoryElements.append(domain, spec.memory(), spec.variableMemory());
    CpuElements.append(domain, spec.cpus(), spec.cpuTune());
    spec.numaTune().ifPresent(tune -> NumaTuneElement.append(domain, tune));
    Element os = Xml.add(domain, "os");
    Xml.add(os, "type", OS_TYPE).setAttribute("arch", host.arch());
    Xml.add(os, "init", container.init());
    IdMapElement.append(domain, container.ids());
    // Without cards of its own a container would otherwise have those of the host.
    Xml.add(Xml.add(domain, "features"), "privnet");
    LifecycleElements.append(domain, spec.onReboot());
    DevicesElement.append(domain, spec, container);
    return document;
  }
}
