package graft.hypervisors.libvirt.domain;

import graft.common.values.PciAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * Builds {@code <hostdev>}: of a device node or an interface for containers, else with {@code
 * managed='no'}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#usb-pci-scsi-devices">libvirt</a>
 */
public final class HostdevElement {

  private HostdevElement() {}

  public static Element append(Element devices, HostdevSpec spec) {
    Element hostdev = create(devices.getOwnerDocument(), spec);
    devices.appendChild(hostdev);
    return hostdev;
  }

  /** Creates the element in a document of its own, to attach or detach the device. */
  public static Element create(HostdevSpec spec) {
    Document document = Xml.newDocument("hostdev");
    fill(document.getDocumentElement(), spec);
    return document.getDocumentElement();
  }

  /**
   * Lets the guest write to the device's whole configuration space, which Xen filters by default.
   *
   * @see <a href="https://libvirt.org/formatdomain.html#usb-pci-scsi-devices">writeFiltering</a>
   */
  public static Element permissive(Element hostdev) {
    Xml.children(hostdev, "source").get(0).setAttribute("writeFiltering", "no");
    return hostdev;
  }

  /**
   * The host devices of a guest, including those that are its network interfaces.
   *
   * @param domain the root of a domain XML
   */
  public static List<HostdevSpec> read(Element domain) {
    List<HostdevSpec> found = new ArrayList<>();
    for (Element devices : Xml.children(domain, "devices")) {
      for (Element hostdev : Xml.children(devices, "hostdev")) {
        source(hostdev).or(() -> capability(hostdev)).ifPresent(found::add);
      }
      for (Element card : Xml.children(devices, "interface")) {
        if (card.getAttribute("type").equals("hostdev")) {
          source(card).ifPresent(found::add);
        }
      }
    }
    return found;
  }

  private static Optional<HostdevSpec> source(Element device) {
    for (Element source : Xml.children(device, "source")) {
      for (Element address : Xml.children(source, "address")) {
        if (address.hasAttribute("uuid")) {
          return Optional.of(
              new HostdevSpec.Mediated(UUID.fromString(address.getAttribute("uuid"))));
        }
        if (address.hasAttribute("function")) {
          return Optional.of(
              new HostdevSpec.Pci(
                  new PciAddress(
                      number(address, "domain"),
                      number(address, "bus"),
                      number(address, "slot"),
                      number(address, "function"))));
        }
      }
    }
    return Optional.empty(); // a USB or SCSI device, or what a container has
  }

  private static Optional<HostdevSpec> capability(Element hostdev) {
    if (!hostdev.getAttribute("mode").equals("capabilities")) {
      return Optional.empty();
    }
    Optional<Element> source = Xml.find(hostdev, "source");
    try {
      Optional<HostdevSpec> card =
          source.flatMap(from -> Xml.text(from, "interface")).map(HostdevSpec.Interface::new);
      return card.or(
          () -> source.flatMap(from -> Xml.text(from, "char")).map(HostdevSpec.Node::new));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // a guest of others, which must not hide all guests
    }
  }

  private static int number(Element address, String name) {
    return address.hasAttribute(name) ? Integer.decode(address.getAttribute(name)) : 0;
  }

  private static Element create(Document document, HostdevSpec spec) {
    Element hostdev = document.createElement("hostdev");
    fill(hostdev, spec);
    return hostdev;
  }

  private static void fill(Element hostdev, HostdevSpec spec) {
    if (spec instanceof HostdevSpec.Node node) {
      hostdev.setAttribute("mode", "capabilities");
      hostdev.setAttribute("type", "misc");
      Xml.add(Xml.add(hostdev, "source"), "char", node.path());
      return;
    }
    if (spec instanceof HostdevSpec.Interface card) {
      hostdev.setAttribute("mode", "capabilities");
      hostdev.setAttribute("type", "net");
      Xml.add(Xml.add(hostdev, "source"), "interface", card.name());
      return;
    }
    hostdev.setAttribute("mode", "subsystem");
    hostdev.setAttribute("type", spec instanceof HostdevSpec.Pci ? "pci" : "mdev");
    hostdev.setAttribute("managed", "no");
    if (spec instanceof HostdevSpec.Mediated) {
      hostdev.setAttribute("model", "vfio-pci");
    }
    Element address = Xml.add(Xml.add(hostdev, "source"), "address");
    if (spec instanceof HostdevSpec.Pci pci) {
      address.setAttribute("domain", String.format("0x%04x", pci.address().domain()));
      address.setAttribute("bus", String.format("0x%02x", pci.address().bus()));
      address.setAttribute("slot", String.format("0x%02x", pci.address().device()));
      address.setAttribute("function", String.format("0x%x", pci.address().function()));
    } else if (spec instanceof HostdevSpec.Mediated mediated) {
      address.setAttribute("uuid", mediated.uuid().toString());
    }
  }
}
