package graft.deployment.observe;

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
