package graft.hypervisors.libvirt;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A guest needs what its hypervisor cannot do on this host; planning should have found it. */
public final class UnsupportedFeatureException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  private final transient Set<GuestFeature> missing;

  public UnsupportedFeatureException(
      String guest, String hypervisor, LibvirtUri uri, Set<GuestFeature> missing) {
    super(
        "make a domain for",
        "guest '" + guest + "' at " + uri,
        hypervisor
            + " cannot give "
            + new TreeSet<>(missing)
                .stream().map(GuestFeature::words).collect(Collectors.joining(", ")),
        "leave it out of the guest, or use another host");
    this.missing = Set.copyOf(missing);
  }

  public Set<GuestFeature> missing() {
    return missing;
  }
}
