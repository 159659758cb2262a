package graft.provisioner.observe;

import java.util.UUID;

/**
 * A guest that libvirt knows.
 *
 * @param deployment the set-up that made it; empty if it is not Graft's
 * @param state libvirt's word for its state
 */
public record GuestFacts(
    String name, UUID uuid, boolean running, boolean persistent, String deployment, String state) {}
