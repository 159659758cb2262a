package graft.hypervisors.lxc;

import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.InterfaceElement;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <devices>}.
 *
 * @see <a href="https://libvirt.org/drvlxc.html#example-domain-xml-configuration">libvirt</a>
 */
final class DevicesElement {
  private DevicesElement() {}

  static void append(Element domain, DomainSpec spec, Boot.Container container) {
    Element devices = Xml.add(domain, "devices");
    mount(devices, container.root(), "/");
    for (Boot.SharedFolder folder : container.folders()) {
      Xml.add(mount(devices, folder.source(), folder.target()), "readonly");
    }
    spec.interfaces().forEach(card -> InterfaceElement.append(devices, card, "virtio"));
    spec.hostdevs().forEach(device -> HostdevElement.append(devices, device));
    Xml.add(devices, "console").setAttribute("type", "pty");
  }

  private static Element mount(Element devices, String source, String target) {
    Element filesystem = Xml.add(devices, "filesystem");
    filesystem.setAttribute("type", "mount");
    Xml.add(filesystem, "source").setAttribute("dir", source);
    Xml.add(filesystem, "target").setAttribute("dir", target);
    return filesystem;
  }
}
