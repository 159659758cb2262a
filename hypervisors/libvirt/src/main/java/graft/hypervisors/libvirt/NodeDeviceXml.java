package graft.hypervisors.libvirt;

import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.w3c.dom.Element;

/**
 * Reads the XML of a PCI node device.
 *
 * @see <a href="https://libvirt.org/formatnode.html">libvirt: node devices XML format</a>
 */
final class NodeDeviceXml {

  private NodeDeviceXml() {}

  static NodeDevice pci(String xml) {
    Element device = Xml.parse(xml).getDocumentElement();
    Element pci =
        capability(device, "pci")
            .orElseThrow(() -> new IllegalArgumentException("no PCI device: " + xml));
    Optional<Element> product = Xml.find(pci, "product");
    return new NodeDevice(
        Xml.text(device, "name").orElseThrow(),
        new PciAddress(
            number(Xml.text(pci, "domain")).orElse(0),
            number(Xml.text(pci, "bus")).orElseThrow(),
            number(Xml.text(pci, "slot")).orElseThrow(),
            number(Xml.text(pci, "function")).orElseThrow()),
        Xml.text(device, "driver", "name"),
        number(Xml.find(pci, "vendor").flatMap(e -> Xml.attribute(e, "id"))).orElse(0),
        number(product.flatMap(e -> Xml.attribute(e, "id"))).orElse(0),
        product.map(e -> e.getTextContent().strip()).filter(s -> !s.isEmpty()),
        number(Xml.text(pci, "class")),
        number(Xml.find(pci, "iommuGroup").flatMap(e -> Xml.attribute(e, "number"))),
        number(Xml.find(pci, "numa").flatMap(e -> Xml.attribute(e, "node"))),
        capability(pci, "phys_function").flatMap(e -> addresses(e).stream().findFirst()),
        capability(pci, "virt_functions").map(NodeDeviceXml::addresses).orElse(List.of()));
  }

  private static Optional<Element> capability(Element parent, String type) {
    return Xml.children(parent, "capability").stream()
        .filter(e -> e.getAttribute("type").equals(type))
        .findFirst();
  }

  private static List<PciAddress> addresses(Element parent) {
    return Xml.children(parent, "address").stream()
        .map(
            e ->
                new PciAddress(
                    Integer.decode(e.getAttribute("domain")),
                    Integer.decode(e.getAttribute("bus")),
                    Integer.decode(e.getAttribute("slot")),
                    Integer.decode(e.getAttribute("function"))))
        .toList();
  }

  /** Decimal, or hexadecimal with 0x, as libvirt mixes them. */
  private static OptionalInt number(Optional<String> text) {
    return text.map(s -> OptionalInt.of(Integer.decode(s))).orElse(OptionalInt.empty());
  }
}
