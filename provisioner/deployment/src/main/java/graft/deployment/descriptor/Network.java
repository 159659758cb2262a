package graft.deployment.descriptor;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.Name;
import graft.common.values.Subnet;

/** A libvirt network that Graft makes. */
@Doc("A libvirt network that Graft makes and takes away again.")
public record Network(
    @Doc("Its name in libvirt.") Name name,
    @Doc("The host's address on it, with the length of the network.") Subnet address,
    @Default("nat") @Doc("nat: guests reach the outside through the host; isolated: they do not.")
        Mode mode,
    @Default("true") @Doc("Whether guests get their addresses there by DHCP.") boolean dhcp) {

  /** What guests on the network reach. */
  public enum Mode {
    NAT,
    ISOLATED
  }
}
