package graft.deployment.observe;

import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A guest that libvirt knows.
 *
 * @param deployment the deployment that made it; empty if it is not Graft's
 * @param state libvirt's word for its state
 * @param devices the devices of the host in its present or its persistent definition, by PCI
 *     address or UUID; not examined where a deployment has no devices
 * @param attached those of them in the persistent definition and, if it runs, in the present one
 * @param definition its persistent definition; absent if it has none or is another deployment's
 */
public record GuestFacts(
    String name,
    UUID uuid,
    boolean running,
    boolean persistent,
    String deployment,
    String state,
    Set<String> devices,
    Set<String> attached,
    Optional<DefinitionFacts> definition) {
  /** A guest whose definition was not examined. */
  public GuestFacts(
      String name,
      UUID uuid,
      boolean running,
      boolean persistent,
      String deployment,
      String state,
      Set<String> devices,
      Set<String> attached) {
    this(name, uuid, running, persistent, deployment, state, devices, attached, Optional.empty());
  }

  /** The same guest with another definition. */
  public GuestFacts with(DefinitionFacts other) {
    return new GuestFacts(
        name, uuid, running, persistent, deployment, state, devices, attached, Optional.of(other));
  }
}
