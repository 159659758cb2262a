package graft.hypervisors.libvirt.domain;

import graft.common.values.MacAddress;
import java.util.Optional;

/**
 * A network interface of a guest.
 *
 * @param source the network that the interface is connected to
 * @param mac the interface's MAC address; libvirt chooses one if absent
 */
public record InterfaceSpec(Source source, Optional<MacAddress> mac) {

  /** A user-mode network, which needs no privileges; the guest reaches the host at 10.0.2.2. */
  public static InterfaceSpec userMode() {
    return new InterfaceSpec(new UserMode(), Optional.empty());
  }

  /** An interface on a libvirt network. */
  public static InterfaceSpec network(String name) {
    return new InterfaceSpec(new LibvirtNetwork(name), Optional.empty());
  }

  /** An interface on a bridge of the host. */
  public static InterfaceSpec bridge(String device) {
    return new InterfaceSpec(new HostBridge(device), Optional.empty());
  }

  /** A copy of the interface with a fixed MAC address. */
  public InterfaceSpec withMac(MacAddress address) {
    return new InterfaceSpec(source, Optional.of(address));
  }

  /** The network that an interface is connected to. */
  public sealed interface Source {}

  /** The hypervisor process itself forwards the guest's connections. */
  public record UserMode() implements Source {}

  /** A network that libvirt manages. */
  public record LibvirtNetwork(String name) implements Source {
    public LibvirtNetwork {
      Checks.name("network", name);
    }
  }

  /** A bridge that the host's administrator manages. */
  public record HostBridge(String device) implements Source {
    public HostBridge {
      Checks.name("bridge", device);
    }
  }
}
