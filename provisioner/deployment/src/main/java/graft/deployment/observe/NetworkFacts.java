package graft.deployment.observe;

/**
 * A network that libvirt knows.
 *
 * @param address the host's IPv4 address on it; empty if it has none or the address is not needed
 */
public record NetworkFacts(String name, boolean active, String address) {}
