package graft.deployment.descriptor;

import graft.common.values.Name;
import graft.deployment.descriptor.hosts.Host;
import java.util.Map;
import java.util.Set;

/**
 * What a deployment over many hosts has on one of them.
 *
 * @param descriptor of that host alone
 * @param uses the hosts whose GPUs its guests use, each with such a guest's name
 */
public record HostPart(Host host, Descriptor descriptor, Map<Name, Name> uses) {
  /** Copies the map. */
  public HostPart {
    uses = Map.copyOf(uses);
  }

  public Name name() {
    return host.name();
  }

  /** Whether the deployment has nothing there. */
  public boolean isEmpty() {
    return descriptor.gpus().isEmpty()
        && descriptor.guests().isEmpty()
        && descriptor.networks().isEmpty()
        && descriptor.fabric().isEmpty();
  }

  /** The hosts that have to be ready before. */
  public Set<Name> after() {
    return uses.keySet();
  }
}
