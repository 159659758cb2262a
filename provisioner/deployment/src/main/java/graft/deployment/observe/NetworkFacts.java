package graft.deployment.observe;

/**
 * A network that libvirt knows.
 *
 * @param address the host's IPv4 address on it; empty if it has none or the address is not needed
 * @param filters whether libvirt can filter the traffic of its guests
 */
public record NetworkFacts(String name, boolean active, String address, boolean filters) {}
