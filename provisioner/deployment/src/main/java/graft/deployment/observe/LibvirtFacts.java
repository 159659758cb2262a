package graft.deployment.observe;

import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import java.util.List;
import java.util.Optional;

/**
 * The state of libvirt.
 *
 * @param uri the connection
 * @param error the reason why it does not answer; empty if it answers
 * @param capabilities absent if it does not answer
 * @param guestMemory the memory that new guests can get, in bytes; absent where it is that of the
 *     host's processes
 * @param guests all its guests
 * @param networks all its networks
 * @param cleanTraffic whether it has the filter clean-traffic
 */
public record LibvirtFacts(
    String uri,
    String error,
    Optional<HostCapabilities> capabilities,
    Optional<Long> guestMemory,
    List<GuestFacts> guests,
    List<NetworkFacts> networks,
    boolean cleanTraffic) {

  /** A daemon that does not answer. */
  public static LibvirtFacts unreachable(String uri, String error) {
    return new LibvirtFacts(
        uri, error, Optional.empty(), Optional.empty(), List.of(), List.of(), false);
  }

  public boolean answers() {
    return error.isEmpty();
  }

  public Optional<GuestFacts> guest(String name) {
    return guests.stream().filter(g -> g.name().equals(name)).findFirst();
  }

  /** The guest of that name, unless another one has taken its name. */
  public Optional<GuestFacts> guest(String name, String uuid) {
    return guest(name).filter(g -> g.uuid().toString().equals(uuid));
  }

  public Optional<NetworkFacts> network(String name) {
    return networks.stream().filter(n -> n.name().equals(name)).findFirst();
  }

  /** The same state with another guest of that name. */
  LibvirtFacts with(GuestFacts guest) {
    List<GuestFacts> others =
        guests.stream().map(g -> g.name().equals(guest.name()) ? guest : g).toList();
    return new LibvirtFacts(uri, error, capabilities, guestMemory, others, networks, cleanTraffic);
  }
}
