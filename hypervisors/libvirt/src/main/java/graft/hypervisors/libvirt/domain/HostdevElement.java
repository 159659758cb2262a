package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * Builds {@code <hostdev>} for a PCI function, always {@code managed='no'}.
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

  /** The element in a document of its own, to be plugged into or out of a guest. */
  public static Element create(HostdevSpec spec) {
    Document document = Xml.newDocument("hostdev");
    fill(document.getDocumentElement(), spec);
    return document.getDocumentElement();
  }

  private static Element create(Document document, HostdevSpec spec) {
    Element hostdev = document.createElement("hostdev");
    fill(hostdev, spec);
    return hostdev;
  }

  private static void fill(Element hostdev, HostdevSpec spec) {
    hostdev.setAttribute("mode", "subsystem");
    hostdev.setAttribute("type", "pci");
    hostdev.setAttribute("managed", "no");
    Element address = Xml.add(Xml.add(hostdev, "source"), "address");
    address.setAttribute("domain", String.format("0x%04x", spec.address().domain()));
    address.setAttribute("bus", String.format("0x%02x", spec.address().bus()));
    address.setAttribute("slot", String.format("0x%02x", spec.address().slot()));
    address.setAttribute("function", String.format("0x%x", spec.address().function()));
  }
}
