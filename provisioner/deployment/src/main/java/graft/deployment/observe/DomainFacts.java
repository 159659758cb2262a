package graft.deployment.observe;

import graft.deployment.descriptor.guest.Channel;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.existing.ExistingDomain.Card;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A libvirt domain that somebody else made.
 *
 * @param state libvirt's word for its state
 * @param maker the deployment of Graft's that made it; empty if none did
 * @param agent whether its guest agent is used
 * @param ssh the login, if its guest agent is not used
 * @param vsock whether it has a vsock device
 * @param cid its vsock address, if that stays the same
 * @param card what connects it to this host
 * @param freeSlots the number of PCI slots into which a device can be plugged
 * @param attached its devices of this host and its shared memory, now and at its next start: PCI
 *     addresses, UUIDs and names
 */
public record DomainFacts(
    UUID uuid,
    boolean running,
    String state,
    String maker,
    boolean agent,
    Optional<SshLogin> ssh,
    boolean vsock,
    Optional<Long> cid,
    Card card,
    int freeSlots,
    Set<String> attached) {

  /** Whether there is a way to bring files into it. */
  public boolean isReachable() {
    return agent || ssh.isPresent();
  }

  /** Why vsock does not connect it to this host; empty if it does. */
  private Optional<String> noVsock() {
    if (!vsock) {
      return Optional.of("the domain has no vsock device");
    }
    return cid.isPresent()
        ? Optional.empty()
        : Optional.of("the domain gets another vsock address at each start (auto='yes')");
  }

  /**
   * Why it cannot share memory with this host; empty if it can.
   *
   * @param name the name of the memory, which it may have already
   * @param devices how many other devices it still gets
   */
  private Optional<String> noMemory(String name, long devices) {
    return attached.contains(name) || freeSlots > devices
        ? Optional.empty()
        : Optional.of(
            "the domain has no free PCI slot for shared memory (a pcie-root-port, added while it is"
                + " off)");
  }

  /**
   * Why it has no channels that need no network.
   *
   * @param memory the name of the memory that it would share
   * @param devices how many other devices it still gets
   */
  public Map<Channel, String> obstacles(String memory, long devices) {
    Map<Channel, String> obstacles = new EnumMap<>(Channel.class);
    noVsock().ifPresent(why -> obstacles.put(Channel.VSOCK, why));
    noMemory(memory, devices).ifPresent(why -> obstacles.put(Channel.IVSHMEM, why));
    return obstacles;
  }

  /**
   * Why no network connects it to a server on this host; empty if one does.
   *
   * @param listen the address of this host at which it reaches the server; empty if that is unknown
   */
  public Optional<String> noNetwork(String listen) {
    if (card == Card.NONE) {
      return Optional.of("the domain has no network card");
    }
    return listen.isEmpty()
        ? Optional.of("this host knows no address of the domain (setup: {ssh: {address: ...}})")
        : Optional.empty();
  }

  /** Whether QEMU's user-mode network connects it, in which this host has another address. */
  public boolean isOnUserNetwork() {
    return card == Card.USER;
  }
}
