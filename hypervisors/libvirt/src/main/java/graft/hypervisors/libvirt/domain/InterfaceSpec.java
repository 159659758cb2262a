package graft.hypervisors.libvirt.domain;

import graft.common.values.MacAddress;
import java.util.Optional;

/**
 * A network interface of a guest.
 *
 * @param source what it is connected to
 * @param mac its address; libvirt picks one when absent
 */
public record InterfaceSpec(Source source, Optional<MacAddress> mac) {

  /** User-mode network: no privileges needed; the guest reaches the host at 10.0.2.2. */
  public static InterfaceSpec userMode() {
    return new InterfaceSpec(new UserMode(), Optional.empty());
  }

  /** A libvirt network by name. */
  public static InterfaceSpec network(String name) {
    return new InterfaceSpec(new LibvirtNetwork(name), Optional.empty());
  }

  /** A bridge of the host. */
  public static InterfaceSpec bridge(String device) {
    return new InterfaceSpec(new HostBridge(device), Optional.empty());
  }

  /** The same interface with a fixed address. */
  public InterfaceSpec withMac(MacAddress address) {
    return new InterfaceSpec(source, Optional.of(address));
  }

  /** What an interface is connected to. */
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
