package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <interface>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#network-interfaces">libvirt</a>
 */
public final class InterfaceElement {

  private InterfaceElement() {}

  /**
   * Appends an interface.
   *
   * @param model the model in the guest, such as {@code virtio}
   */
  public static Element append(Element devices, InterfaceSpec spec, String model) {
    Element element = Xml.add(devices, "interface");
    if (spec.source() instanceof InterfaceSpec.UserMode) {
      element.setAttribute("type", "user");
    } else if (spec.source() instanceof InterfaceSpec.LibvirtNetwork network) {
      element.setAttribute("type", "network");
      Xml.add(element, "source").setAttribute("network", network.name());
    } else if (spec.source() instanceof InterfaceSpec.HostBridge bridge) {
      element.setAttribute("type", "bridge");
      Xml.add(element, "source").setAttribute("bridge", bridge.device());
    }
    spec.mac().ifPresent(mac -> Xml.add(element, "mac").setAttribute("address", mac.toString()));
    Xml.add(element, "model").setAttribute("type", model);
    return element;
  }
}
