package graft.hypervisors.libvirt;

import java.util.Optional;

/**
 * A network of libvirt as it was when the host was asked.
 *
 * @param bridge the host's device for it, while there is one
 */
public record Network(String name, boolean active, boolean persistent, Optional<String> bridge) {}
