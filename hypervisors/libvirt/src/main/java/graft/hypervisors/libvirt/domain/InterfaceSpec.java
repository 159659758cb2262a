package graft.hypervisors.libvirt.domain;

import graft.common.values.MacAddress;
import java.util.Optional;

/**
 * A network interface of a guest.
 *
 * @param source the network that the interface is connected to
 * @param mac the interface's MAC address; libvirt chooses one if absent
 * @param cleanTraffic whether libvirt's filter {@link #CLEAN_TRAFFIC} keeps the guest from sending
 *     with addresses that are not its own
 */
public record InterfaceSpec(Source source, Optional<MacAddress> mac, boolean cleanTraffic) {
  /**
   * The filter against forged MAC, ARP and IP addresses that libvirt brings with it.
   *
   * @see <a href="https://libvirt.org/formatnwfilter.html#pre-existing-network-filters">libvirt</a>
   */
  public static final String CLEAN_TRAFFIC = "clean-traffic";

  private InterfaceSpec(Source source) {
    this(source, Optional.empty(), false);
  }

  /** A user-mode network, which needs no privileges; the guest reaches the host at 10.0.2.2. */
  public static InterfaceSpec userMode() {
    return new InterfaceSpec(new UserMode());
  }

  /**
   * A cable to another process, which exchanges Ethernet frames with the hypervisor over TCP on
   * this host's loopback.
   */
  public static InterfaceSpec tunnel(int port) {
    return new InterfaceSpec(new Tunnel(port));
  }

  /** An interface on a libvirt network. */
  public static InterfaceSpec network(String name) {
    return new InterfaceSpec(new LibvirtNetwork(name));
  }

  /** An interface on a bridge of the host. */
  public static InterfaceSpec bridge(String device) {
    return new InterfaceSpec(new HostBridge(device));
  }

  /** A copy of the interface with a fixed MAC address. */
  public InterfaceSpec withMac(MacAddress address) {
    return new InterfaceSpec(source, Optional.of(address), cleanTraffic);
  }

  /** A copy of the interface whose guest can only send with its own addresses. */
  public InterfaceSpec withCleanTraffic() {
    return new InterfaceSpec(source, mac, true);
  }

  /** The network that an interface is connected to. */
  public sealed interface Source {}

  /** The hypervisor process itself forwards the guest's connections. */
  public record UserMode() implements Source {}

  /**
   * A TCP server that takes the guest's Ethernet frames.
   *
   * @param port its port on the loopback
   */
  public record Tunnel(int port) implements Source {}

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
