package graft.deployment.plan;

import graft.common.values.Name;
import graft.common.values.Subnet;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.Network;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.observe.NetworkFacts;
import graft.deployment.step.Step;
import graft.deployment.step.host.DefineNetwork;
import graft.deployment.step.host.StartNetwork;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The steps that make the networks of the guests. */
final class NetworkSteps {
  private NetworkSteps() {}

  static List<Step> of(PlanInput input) {
    String deployment = input.descriptor().deploymentName().text();
    String uri = input.snapshot().libvirt().uri();
    List<Step> steps = new ArrayList<>();
    for (Name name : used(input)) {
      input
          .descriptor()
          .network(name)
          .ifPresent(
              network ->
                  steps.add(
                      new DefineNetwork(
                          uri, name.text(), summary(network), xml(deployment, network))));
      // Networks that others defined and that run already are not part of the plan.
      boolean ours =
          input.descriptor().network(name).isPresent()
              || input.journal().entry("network/" + name + "/start").isPresent();
      boolean active =
          input.snapshot().libvirt().network(name.text()).map(NetworkFacts::active).orElse(false);
      if (ours || !active) {
        steps.add(new StartNetwork(uri, name.text()));
      }
    }
    return steps;
  }

  /** The networks that this deployment makes or uses. */
  static Set<Name> used(PlanInput input) {
    Set<Name> names = new TreeSet<>();
    input.descriptor().networks().forEach(network -> names.add(network.name()));
    for (Guest guest : input.descriptor().guests()) {
      guest.networks().stream()
          .filter(Nic::isOnLibvirtNetwork)
          .forEach(nic -> names.add(nic.network()));
    }
    return names;
  }

  private static String summary(Network network) {
    return network.mode().name().toLowerCase(java.util.Locale.ROOT)
        + ", "
        + network.address()
        + (network.dhcp() ? ", DHCP" : "");
  }

  /**
   * The network's XML. Its UUID is always the same, so that libvirt accepts a second definition:
   * the daemon may carry out the call of a killed process after the next process has examined the
   * networks.
   *
   * @see <a href="https://libvirt.org/formatnetwork.html">libvirt: network XML format</a>
   */
  private static String xml(String deployment, Network network) {
    Document document = Xml.newDocument("network");
    Element root = document.getDocumentElement();
    Xml.add(root, "name", network.name().text());
    Xml.add(root, "uuid", Identities.networkUuid(deployment, network.name().text()).toString());
    if (network.mode() == Network.Mode.NAT) {
      Xml.add(root, "forward").setAttribute("mode", "nat");
    }
    Subnet subnet = network.address();
    Element ip = Xml.add(root, "ip");
    ip.setAttribute("address", subnet.host());
    ip.setAttribute("netmask", subnet.netmask());
    if (network.dhcp()) {
      Element range = Xml.add(Xml.add(ip, "dhcp"), "range");
      range.setAttribute("start", subnet.firstGuest());
      range.setAttribute("end", subnet.lastGuest());
    }
    return Xml.print(document);
  }
}
