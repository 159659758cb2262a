package graft.deployment.observe;

import java.util.Set;
import java.util.UUID;

/**
 * A guest that libvirt knows.
 *
 * @param deployment the deployment that made it; empty if it is not Graft's
 * @param state libvirt's word for its state
 * @param devices the devices of the host that it has or will have from its next start on, by PCI
 *     address or UUID; nobody looks where a deployment has none
 * @param attached those of them that it will have then and, if it runs, has now
 */
public record GuestFacts(
    String name,
    UUID uuid,
    boolean running,
    boolean persistent,
    String deployment,
    String state,
    Set<String> devices,
    Set<String> attached) {}
