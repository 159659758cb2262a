package graft.hypervisors.xen;

import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.HostNuma;
import graft.hypervisors.libvirt.domain.CpuTuneElement;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.LifecycleElements;
import graft.hypervisors.libvirt.domain.MemoryElements;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Xen guests of all kinds, through libvirt's libxl driver. */
public final class XenHypervisor implements Hypervisor {

  private static final String DOMAIN_TYPE = "xen";

  /**
   * The features that the libxl driver supports for some kind of guest. The driver does not support
   * guest agents, user-mode networks, ivshmem, vsock, mediated devices, memory backing and {@code
   * <numatune>}.
   *
   * @see <a href="https://libvirt.org/drvxen.html">libvirt's libxl driver</a>
   */
  private static final Set<GuestFeature> DRIVER =
      EnumSet.of(
          GuestFeature.HARDWARE_ACCELERATION,
          GuestFeature.CPU_PINNING,
          GuestFeature.DISKS,
          GuestFeature.DIRECT_KERNEL_BOOT,
          GuestFeature.LIBVIRT_NETWORK,
          GuestFeature.HOST_BRIDGE,
          GuestFeature.CONSOLE_LOG);

  /** The folder in which xenconsoled logs consoles, if it runs with {@code --log=guest}. */
  private static final Path CONSOLES = Path.of("/var/log/xen/console");

  private final Function<HostCapabilities, RunningXen> look;
  private RunningXen running;

  public XenHypervisor() {
    this(RunningXen::of);
  }

  XenHypervisor(Function<HostCapabilities, RunningXen> look) {
    this.look = look;
  }

  /**
   * Creates a hypervisor for a Xen whose properties are known, so that Xen is not asked.
   *
   * @param info the output of {@code xl info}
   * @param logsConsoles whether Xen's xenconsoled logs the consoles of guests to files
   */
  public static XenHypervisor saying(String info, boolean logsConsoles) {
    RunningXen said = RunningXen.parse(info, logsConsoles);
    return new XenHypervisor(host -> said);
  }

  /** The result is kept, because each look at Xen runs a program. */
  private synchronized RunningXen running(HostCapabilities host) {
    if (running == null) {
      running = look.apply(host);
    }
    return running;
  }

  @Override
  public String name() {
    return "xen";
  }

  @Override
  public boolean accepts(HostCapabilities host) {
    return host.hypervisor().equals("Xen") && host.offersDomainType(DOMAIN_TYPE);
  }

  @Override
  public Set<GuestFeature> features(HostCapabilities host, Virtualization kind) {
    Set<GuestFeature> features = EnumSet.copyOf(DRIVER);
    RunningXen xen = running(host);
    if (offers(host, kind)) {
      features.add(GuestFeature.valueOf(kind.name()));
    }
    if (xen.passesDevicesTo(kind)) {
      features.add(GuestFeature.PCI_PASSTHROUGH);
      features.add(GuestFeature.FILTERED_DEVICES);
    }
    if (kind != Virtualization.HVM && !xen.logsConsoles()) {
      features.remove(GuestFeature.CONSOLE_LOG);
    }
    return features;
  }

  private static boolean offers(HostCapabilities host, Virtualization kind) {
    return host.nativeGuest(OsElement.osType(kind)).isPresent();
  }

  @Override
  public String why(GuestFeature missing, HostCapabilities host, Virtualization kind) {
    return switch (missing) {
      case PCI_PASSTHROUGH -> running(host).obstacle(kind);
      case CONSOLE_LOG -> "xenconsoled runs without --log=guest";
      case USER_NETWORK -> "write networks: [default], or another network of libvirt's";
      case GUEST_AGENT -> "libvirt's driver for Xen knows none; SSH does what it would";
      case NUMA_TUNING ->
          "Xen takes memory where the CPUs are as long as there is some, and elsewhere then";
      default -> "";
    };
  }

  /**
   * A kernel needs no emulated machine, and Xen recommends PVH for direct kernel boot. A PVH guest
   * cannot have devices.
   */
  @Override
  public Virtualization kind(HostCapabilities host, boolean kernel, boolean devices) {
    if (!kernel && offers(host, Virtualization.HVM)) {
      return Virtualization.HVM;
    }
    return !devices && offers(host, Virtualization.PVH) ? Virtualization.PVH : Virtualization.PV;
  }

  @Override
  public List<String> warnings(HostCapabilities host) {
    return running(host).logsConsoles()
        ? List.of()
        : List.of(
            "the consoles of PV and PVH guests are kept nowhere: xenconsoled runs without"
                + " --log=guest");
  }

  @Override
  public String deviceDriver() {
    return "pciback";
  }

  @Override
  public Optional<Path> consoleLog(HostCapabilities host, Virtualization kind, String guest) {
    return kind != Virtualization.HVM && running(host).logsConsoles()
        ? Optional.of(CONSOLES.resolve("guest-" + guest + ".log"))
        : Optional.empty();
  }

  /** Dom0 is itself a guest with virtual CPUs, whose kernel does not see the NUMA nodes. */
  @Override
  public Optional<HostNuma> numa(HostCapabilities host) {
    return Optional.of(running(host).numa());
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
    MemoryElements.append(domain, spec.memory(), spec.variableMemory());
    Xml.add(domain, "vcpu", Integer.toString(spec.cpus()));
    spec.cpuTune().ifPresent(tune -> CpuTuneElement.append(domain, tune));
    OsElement.append(domain, spec, host.arch());
    FeaturesElement.append(domain, spec);
    LifecycleElements.append(domain, spec.onReboot());
    DevicesElement.append(domain, spec);
    return document;
  }
}
