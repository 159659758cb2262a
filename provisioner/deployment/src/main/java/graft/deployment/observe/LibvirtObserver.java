package graft.deployment.observe;

import graft.deployment.descriptor.HypervisorChoice;
import graft.deployment.descriptor.LibvirtUri;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.Network;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.w3c.dom.Element;

/** Examines libvirt. */
final class LibvirtObserver {
  private final Connections connections;

  LibvirtObserver(Connections connections) {
    this.connections = connections;
  }

  /**
   * Examines the daemon that the descriptor chooses.
   *
   * @param known the connection of an earlier apply, empty if there was none: {@code auto} stays
   *     with it
   * @param networks the networks whose address is needed
   * @param devices whether the guests' devices are needed
   * @param deployment the deployment whose guests' definitions are needed
   */
  LibvirtFacts observe(
      LibvirtUri wanted,
      HypervisorChoice hypervisor,
      String known,
      Set<String> networks,
      boolean devices,
      String deployment) {
    List<String> candidates = candidates(wanted, hypervisor, known);
    LibvirtFacts facts = null;
    for (String uri : candidates) {
      facts = observe(uri, networks, devices, deployment);
      if (facts.answers()) {
        return facts;
      }
    }
    return facts;
  }

  /** The system's daemon is root's; everybody has a session's. */
  static List<String> candidates(LibvirtUri wanted, HypervisorChoice hypervisor, String known) {
    if (!wanted.isAuto()) {
      return List.of(wanted.text());
    }
    if (!known.isEmpty()) {
      return List.of(known);
    }
    return switch (hypervisor) {
      case XEN -> List.of(HostObserver.XEN);
      case LXC -> List.of(HostObserver.LXC);
      case AUTO -> HostObserver.daemons();
      case KVM, QEMU -> HostObserver.daemonsOfQemu();
    };
  }

  private LibvirtFacts observe(
      String uri, Set<String> networks, boolean devices, String deployment) {
    try {
      LibvirtHost host = connections.get(uri);
      List<NetworkFacts> seen =
          host.networks().list().stream().map(network -> network(host, network, networks)).toList();
      return new LibvirtFacts(
          uri,
          "",
          Optional.of(host.capabilities()),
          guestMemory(host),
          host.guests().stream().map(found -> guest(uri, found, devices, deployment)).toList(),
          seen,
          host.hasNetworkFilter(InterfaceSpec.CLEAN_TRAFFIC));
    } catch (HypervisorException e) {
      return LibvirtFacts.unreachable(uri, e.getMessage());
    }
  }

  /**
   * Under Xen, new guests get the memory that no domain has. This host, dom0, is itself a domain.
   */
  private static Optional<Long> guestMemory(LibvirtHost host) {
    return host.uri().driver().equals("xen")
        ? Optional.of(host.freeMemory().bytes())
        : Optional.empty();
  }

  private static GuestFacts guest(
      String uri, ObservedGuest seen, boolean lookAtDevices, String wanted) {
    Set<String> devices = new TreeSet<>();
    Set<String> attached = new TreeSet<>();
    if (lookAtDevices) {
      try {
        seen.guest().hostDevices().forEach(device -> devices.add(device.toString()));
        attached.addAll(devices);
        if (seen.state().isActive() && seen.persistent()) {
          Set<String> defined = new TreeSet<>();
          seen.guest().definedHostDevices().forEach(device -> defined.add(device.toString()));
          attached.retainAll(defined);
          devices.addAll(defined);
        }
      } catch (NotFoundException e) {
        // the guest was removed meanwhile
      }
    }
    String deployment = seen.metadata().map(m -> m.deployment()).orElse("");
    return new GuestFacts(
        seen.name(),
        seen.guest().uuid(),
        seen.state().isActive(),
        seen.persistent(),
        deployment,
        seen.state().words(),
        devices,
        attached,
        seen.persistent() && deployment.equals(wanted) ? definition(uri, seen) : Optional.empty());
  }

  private static Optional<DefinitionFacts> definition(String uri, ObservedGuest seen) {
    try {
      return Optional.of(
          DefinitionFacts.of(
              seen.guest().definitionXml().getDocumentElement(),
              LibvirtRecords.defined(uri, seen.name())));
    } catch (NotFoundException e) {
      return Optional.empty(); // the guest was removed meanwhile
    }
  }

  private static NetworkFacts network(LibvirtHost host, Network seen, Set<String> wanted) {
    String address = "";
    boolean filters = true;
    if (wanted.contains(seen.name())) {
      Element root = host.networks().xml(seen.name()).getDocumentElement();
      for (Element ip : Xml.children(root, "ip")) {
        String family = ip.getAttribute("family");
        if (address.isEmpty() && !family.equals("ipv6")) {
          address = ip.getAttribute("address");
        }
      }
      // libvirt filters at bridges of Linux: not macvtap, Open vSwitch or virtual functions.
      filters =
          !Xml.children(root, "bridge").isEmpty() && Xml.children(root, "virtualport").isEmpty();
    }
    return new NetworkFacts(seen.name(), seen.active(), address, filters);
  }
}
