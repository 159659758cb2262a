package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.HostNuma;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Document;

/** What differs between hypervisors that libvirt drives. */
public interface Hypervisor {

  /** The descriptor's word for it, in lower case. */
  String name();

  /** Whether this host runs guests of this hypervisor. */
  boolean accepts(HostCapabilities host);

  /** What guests of a kind can have on this host, the kind itself included if there is any. */
  Set<GuestFeature> features(HostCapabilities host, Virtualization kind);

  /** Why guests of a kind cannot have something on this host, where that is known; mostly empty. */
  default String why(GuestFeature missing, HostCapabilities host, Virtualization kind) {
    return "";
  }

  /**
   * The kind that a guest is of that does not say.
   *
   * @param kernel whether it boots a kernel of the host's
   * @param devices whether it gets devices of the host
   */
  default Virtualization kind(HostCapabilities host, boolean kernel, boolean devices) {
    return Virtualization.HVM;
  }

  /** What a user of this host should know, each a sentence; mostly none. */
  List<String> warnings(HostCapabilities host);

  /** The kernel's driver that keeps devices of the host for guests, by its name in sysfs. */
  default String deviceDriver() {
    return "vfio-pci";
  }

  /**
   * The file into which the hypervisor's own daemon writes the console of such a guest; empty where
   * the guest's domain says that, or nobody writes it.
   */
  default Optional<Path> consoleLog(HostCapabilities host, Virtualization kind, String guest) {
    return Optional.empty();
  }

  /**
   * The host's NUMA nodes, where the kernel that Graft runs on is itself a guest of the hypervisor
   * and does not see them; else empty.
   */
  default Optional<HostNuma> numa(HostCapabilities host) {
    return Optional.empty();
  }

  /**
   * Does nothing if this host can run such a guest.
   *
   * @throws UnsupportedFeatureException when the spec needs what {@link #features} lacks
   */
  default void check(DomainSpec spec, HostCapabilities host) {
    Set<GuestFeature> missing = GuestFeature.requiredBy(spec);
    missing.removeAll(features(host, spec.virtualization()));
    if (!missing.isEmpty()) {
      throw new UnsupportedFeatureException(
          spec.name(),
          name(),
          host.uri(),
          missing,
          feature -> why(feature, host, spec.virtualization()));
    }
  }

  /**
   * The domain XML of a guest for this host.
   *
   * @throws UnsupportedFeatureException when the spec needs what {@link #features} lacks
   */
  Document domainXml(DomainSpec spec, HostCapabilities host);
}
