package graft.deployment.plan;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.observe.NetworkFacts;
import graft.deployment.step.guest.DefineGuest;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.w3c.dom.Element;

/**
 * The network cards of a guest. A guest whose descriptor names none gets a closed one if it has a
 * vGPU. What an earlier version gave a guest, an open or an unfiltered card, the guest keeps until
 * the descriptor says otherwise.
 */
final class GuestCards {
  private final PlanInput input;
  private final Guest guest;
  private final List<Element> before;

  GuestCards(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.before =
        input
            .journal()
            .step("guest/" + guest.name() + "/define", DefineGuest.class)
            .map(define -> Xml.parse(define.xml()).getDocumentElement())
            .flatMap(domain -> Xml.children(domain, "devices").stream().findFirst())
            .map(devices -> Xml.children(devices, "interface"))
            .orElse(List.of());
  }

  /** The cards. */
  List<Nic> nics() {
    if (guest.existing().isPresent()) {
      return List.of(); // Graft does not know them
    } else if (!guest.networks().isEmpty()) {
      return guest.networks();
    } else if (guest.root().isPresent()) {
      return List.of(); // a container reaches its server by a socket
    } else if (keepsOpenCard() || (guest.hasVgpu() && obstacle().isPresent())) {
      return List.of(Nic.on(Nic.USER));
    }
    return guest.hasVgpu() ? List.of(Nic.on(Nic.CLOSED)) : List.of();
  }

  /** The card over which the guest reaches the server. */
  Optional<Nic> first() {
    return nics().stream().findFirst();
  }

  /** Whether a card of the guest is on the closed network of its GPU. */
  boolean isClosed() {
    return nics().stream().anyMatch(Nic::isClosed);
  }

  /** Whether all of its cards are closed, or it has none. */
  boolean reachesNoMirror() {
    return nics().stream().allMatch(Nic::isClosed);
  }

  private boolean keepsOpenCard() {
    return guest.networks().isEmpty()
        && before.stream().anyMatch(card -> card.getAttribute("type").equals("user"));
  }

  /** Why the guest cannot have a closed network; on Xen the check of features says it. */
  private Optional<String> obstacle() {
    String host = input.snapshot().host().noClosedNetwork();
    if (!input.snapshot().libvirt().uri().startsWith("qemu:///")) {
      return Optional.empty();
    } else if (!host.isEmpty()) {
      return Optional.of(host);
    }
    return new ServerSteps(input)
        .node(gpu())
        .filter(node -> node.server().isUnix() || node.server().isVsock())
        .map(node -> "the server at " + node.server() + " is not reached by TCP");
  }

  /** The cards of the domain. */
  List<InterfaceSpec> specs() {
    List<InterfaceSpec> specs = new ArrayList<>();
    List<Nic> nics = nics();
    for (int i = 0; i < nics.size(); i++) {
      Nic nic = nics.get(i);
      String deployment = input.descriptor().deploymentName().text();
      InterfaceSpec spec =
          source(nic).withMac(nic.mac().orElse(Identities.mac(deployment, guest.name().text(), i)));
      specs.add(filters(nic) ? spec.withCleanTraffic() : spec);
    }
    return specs;
  }

  private InterfaceSpec source(Nic nic) {
    if (nic.isClosed()) {
      return InterfaceSpec.tunnel(new ServerSteps(input).networkPort(gpu()));
    }
    return nic.isUser() ? InterfaceSpec.userMode() : InterfaceSpec.network(nic.network().text());
  }

  /** The GPU whose server a closed card reaches. */
  private Name gpu() {
    return guest.vgpus().get(0).gpu();
  }

  private boolean filters(Nic nic) {
    return nic.isOnLibvirtNetwork()
        && nic.filter().orElseGet(() -> !isKeptUnfiltered(nic) && noFilter(nic).isEmpty());
  }

  private boolean isKeptUnfiltered(Nic nic) {
    return before.stream()
        .filter(card -> Xml.children(card, "filterref").isEmpty())
        .flatMap(card -> Xml.children(card, "source").stream())
        .anyMatch(source -> source.getAttribute("network").equals(nic.network().text()));
  }

  /** Why libvirt cannot filter what a card sends; empty if it can. */
  private Optional<String> noFilter(Nic nic) {
    boolean filterable =
        input
            .snapshot()
            .libvirt()
            .network(nic.network().text())
            .map(NetworkFacts::filters)
            .orElse(true);
    if (!hasFilters()) {
      return Optional.of(input.hypervisor().name() + " has no filters");
    } else if (!filterable) {
      return Optional.of("libvirt filters only at bridges of Linux");
    }
    return input.snapshot().libvirt().cleanTraffic()
        ? Optional.empty()
        : Optional.of(
            "libvirt has no filter "
                + InterfaceSpec.CLEAN_TRAFFIC
                + " here (Debian: libvirt-daemon-config-nwfilter, then restart libvirtd)");
  }

  private boolean hasFilters() {
    return GuestDomain.features(input, guest).contains(GuestFeature.NETWORK_FILTER);
  }

  /** Reports cards that the descriptor asks for and that cannot be had. */
  void check(Problems problems) {
    Positions positions = input.file().positions();
    if (isClosed() && guest.vgpus().size() > 1) {
      problems.add(
          positions.of(guest, guest.networks().isEmpty() ? "vgpu" : "networks"),
          "the guest has vGPUs of "
              + guest.vgpus().size()
              + " servers, and a closed network reaches one",
          "write networks: [NETWORK] with a network of libvirt's, or networks: [user]");
    }
    for (Nic nic : guest.networks()) {
      if (nic.isClosed() && guest.hasVgpu()) {
        obstacle()
            .ifPresent(
                why ->
                    problems.add(
                        positions.of(nic, "network"),
                        "the guest cannot have a closed network: " + why));
      } else if (nic.filter().orElse(false)) {
        noFilter(nic)
            .ifPresent(
                why ->
                    problems.add(
                        positions.of(nic, "filter"),
                        "the traffic of the guest cannot be filtered: " + why,
                        "write filter: false"));
      }
    }
  }

  /** What is open although the descriptor does not ask for it. */
  List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    if (guest.networks().isEmpty() && nics().stream().anyMatch(Nic::isUser)) {
      warnings.add(
          "the guest '"
              + guest.name()
              + "' has an open network, with what this host reaches, also at its loopback: "
              + (keepsOpenCard()
                  ? "it has it from an earlier apply (close it with networks: [closed])"
                  : obstacle().orElse("")));
    }
    for (Nic nic : nics()) {
      // That a hypervisor has no filters at all is documented.
      if (nic.isOnLibvirtNetwork() && nic.filter().isEmpty() && hasFilters() && !filters(nic)) {
        warnings.add(
            "the guest '"
                + guest.name()
                + "' can send with addresses of others on the network '"
                + nic.network()
                + "': "
                + noFilter(nic)
                    .orElse("its card is from an earlier apply (filter it with filter: true)"));
      }
    }
    return warnings;
  }
}
