package graft.hypervisors.libvirt;

import java.util.Optional;

/**
 * The state of a libvirt network when the host was asked.
 *
 * @param bridge the host's bridge device of the network, if it exists at present
 */
public record Network(String name, boolean active, boolean persistent, Optional<String> bridge) {}
