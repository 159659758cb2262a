package graft.deployment.descriptor;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.Name;
import graft.common.values.Subnet;
import java.util.Optional;

/** A libvirt network that Graft makes. */
@Doc("A libvirt network that Graft creates, and removes with the deployment.")
public record Network(
    @Doc("Its name in libvirt.") Name name,
    @Doc("The host's address on it, with the prefix length.") Subnet address,
    @Default("nat")
        @Doc("nat: guests reach other networks through the host; isolated: they do not.")
        Mode mode,
    @Default("true") @Doc("Whether the network has DHCP.") boolean dhcp,
    @Doc("With hosts, the name of the host that it is on.") Optional<Name> host) {

  /** What guests on the network can reach. */
  public enum Mode {
    NAT,
    ISOLATED
  }
}
