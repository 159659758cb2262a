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

/** The differences between the hypervisors that libvirt drives. */
public interface Hypervisor {

  /** The hypervisor's name in the descriptor, in lower case. */
  String name();

  /** Whether this host runs guests of this hypervisor. */
  boolean accepts(HostCapabilities host);

  /**
   * The features that guests of a kind can have on this host, including the kind itself if the host
   * runs guests of that kind.
   */
  Set<GuestFeature> features(HostCapabilities host, Virtualization kind);

  /** The reason why guests of a kind cannot have a feature on this host; usually empty. */
  default String why(GuestFeature missing, HostCapabilities host, Virtualization kind) {
    return "";
  }

  /**
   * The kind of a guest whose descriptor names none.
   *
   * @param kernel whether the guest boots a kernel of the host
   * @param devices whether the guest gets devices of the host
   */
  default Virtualization kind(HostCapabilities host, boolean kernel, boolean devices) {
    return Virtualization.HVM;
  }

  /** Warnings for a user of this host, one sentence each; usually none. */
  List<String> warnings(HostCapabilities host);

  /** The name in sysfs of the stub driver that keeps devices of the host for guests. */
  default String deviceDriver() {
    return "vfio-pci";
  }

  /**
   * The file to which the hypervisor's own daemon writes the console of a guest; empty if the
   * guest's domain XML names the file, or if the daemon writes none.
   */
  default Optional<Path> consoleLog(HostCapabilities host, Virtualization kind, String guest) {
    return Optional.empty();
  }

  /**
   * The host's NUMA nodes according to the hypervisor; empty unless Graft's own kernel is itself a
   * guest of the hypervisor and therefore does not see the nodes.
   */
  default Optional<HostNuma> numa(HostCapabilities host) {
    return Optional.empty();
  }

  /**
   * Checks that this host can run a guest.
   *
   * @throws UnsupportedFeatureException if the spec needs a feature that {@link #features} lacks
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
   * @throws UnsupportedFeatureException if the spec needs a feature that {@link #features} lacks
   */
  Document domainXml(DomainSpec spec, HostCapabilities host);
}
