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
    } else if (spec.source() instanceof InterfaceSpec.Tunnel tunnel) {
      element.setAttribute("type", "client");
      Element source = Xml.add(element, "source");
      source.setAttribute("address", "127.0.0.1");
      source.setAttribute("port", Integer.toString(tunnel.port()));
    } else if (spec.source() instanceof InterfaceSpec.LibvirtNetwork network) {
      element.setAttribute("type", "network");
      Xml.add(element, "source").setAttribute("network", network.name());
    } else if (spec.source() instanceof InterfaceSpec.HostBridge bridge) {
      element.setAttribute("type", "bridge");
      Xml.add(element, "source").setAttribute("bridge", bridge.device());
    }
    spec.mac().ifPresent(mac -> Xml.add(element, "mac").setAttribute("address", mac.toString()));
    Xml.add(element, "model").setAttribute("type", model);
    if (spec.cleanTraffic()) {
      filter(element, spec);
    }
    return element;
  }

  /** libvirt gives filters the MAC address by itself; the parameter shows it to readers. */
  private static void filter(Element element, InterfaceSpec spec) {
    Element filter = Xml.add(element, "filterref");
    filter.setAttribute("filter", InterfaceSpec.CLEAN_TRAFFIC);
    spec.mac()
        .ifPresent(
            mac -> {
              Element parameter = Xml.add(filter, "parameter");
              parameter.setAttribute("name", "MAC");
              parameter.setAttribute("value", mac.toString());
            });
  }
}
