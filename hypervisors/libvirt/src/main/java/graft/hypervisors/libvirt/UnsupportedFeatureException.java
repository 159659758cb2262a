package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A guest needs a feature that its hypervisor lacks on this host; planning should have detected
 * this.
 */
public final class UnsupportedFeatureException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  private final transient Set<GuestFeature> missing;

  /**
   * Creates an exception.
   *
   * @param why gives the reason for a missing feature; empty if the reason is unknown
   */
  public UnsupportedFeatureException(
      String guest,
      String hypervisor,
      LibvirtUri uri,
      Set<GuestFeature> missing,
      Function<GuestFeature, String> why) {
    super(
        "make a domain for",
        "guest '" + guest + "' at " + uri,
        hypervisor
            + " cannot give "
            + new TreeSet<>(missing)
                .stream()
                    .map(feature -> feature.words() + reason(why.apply(feature)))
                    .collect(Collectors.joining(", ")),
        "leave it out of the guest, or use another host");
    this.missing = Set.copyOf(missing);
  }

  private static String reason(String why) {
    return why.isEmpty() ? "" : " (" + why + ")";
  }

  public Set<GuestFeature> missing() {
    return missing;
  }
}
