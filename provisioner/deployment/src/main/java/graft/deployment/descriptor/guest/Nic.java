package graft.deployment.descriptor.guest;

import graft.common.bind.Doc;
import graft.common.bind.Shorthand;
import graft.common.values.MacAddress;
import graft.common.values.Name;
import java.util.Optional;

/**
 * A guest's network card: on a libvirt network, {@code closed}, or {@code user} for QEMU's
 * user-mode network.
 */
@Shorthand("network")
@Doc("A network card: on a libvirt network, closed, or user for QEMU's user-mode network.")
public record Nic(
    @Doc(
            "closed: it reaches its vGPU's server and nothing else. user: QEMU's user-mode network,"
                + " with what this host reaches, also at its loopback. Else the name of a libvirt"
                + " network.")
        Name network,
    @Doc("Its Ethernet address. If absent, it is derived from the names of deployment and guest.")
        Optional<MacAddress> mac,
    @Doc(
            "On a libvirt network: whether libvirt's filter clean-traffic keeps the guest from"
                + " sending with addresses that are not its own. If absent, true where the"
                + " hypervisor has filters.")
        Optional<Boolean> filter) {

  /** The name that stands for QEMU's user-mode network. */
  public static final Name USER = new Name("user");

  /** The name that stands for the network on which a guest reaches its vGPU's server alone. */
  public static final Name CLOSED = new Name("closed");

  /** A card without settings. */
  public static Nic on(Name network) {
    return new Nic(network, Optional.empty(), Optional.empty());
  }

  public boolean isUser() {
    return USER.equals(network);
  }

  public boolean isClosed() {
    return CLOSED.equals(network);
  }

  /** Whether it is on a network of libvirt's. */
  public boolean isOnLibvirtNetwork() {
    return !isUser() && !isClosed();
  }
}
