package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.domain.DomainSpec;
import java.util.List;
import java.util.Set;
import org.w3c.dom.Document;

/** What differs between hypervisors that libvirt drives. */
public interface Hypervisor {

  /** The descriptor's word for it, in lower case. */
  String name();

  /** Whether this host runs guests of this hypervisor. */
  boolean accepts(HostCapabilities host);

  /** What guests on this host can have. */
  Set<GuestFeature> features(HostCapabilities host);

  /** What a user of this host should know, each a sentence; mostly none. */
  List<String> warnings(HostCapabilities host);

  /**
   * Does nothing if this host can run such a guest.
   *
   * @throws UnsupportedFeatureException when the spec needs what {@link #features} lacks
   */
  void check(DomainSpec spec, HostCapabilities host);

  /**
   * The domain XML of a guest for this host.
   *
   * @throws UnsupportedFeatureException when the spec needs what {@link #features} lacks
   */
  Document domainXml(DomainSpec spec, HostCapabilities host);
}
