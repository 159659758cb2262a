package graft.deployment.descriptor.guest;

import graft.common.bind.Doc;
import graft.common.bind.Shorthand;
import graft.common.values.MacAddress;
import graft.common.values.Name;
import java.util.Optional;

/** A guest's network card: on a libvirt network, or {@code user} for QEMU's user-mode network. */
@Shorthand("network")
@Doc("A network card: on a libvirt network, or user for QEMU's user-mode network.")
public record Nic(
    @Doc("user, or the name of a libvirt network.") Name network,
    @Doc("Its Ethernet address. If absent, it is derived from the names of deployment and guest.")
        Optional<MacAddress> mac) {

  /** The name that stands for QEMU's user-mode network. */
  public static final Name USER = new Name("user");

  public boolean isUser() {
    return USER.equals(network);
  }
}
