package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <channel>} as a virtio port on a Unix socket whose path libvirt chooses.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#channel">libvirt</a>
 */
final class ChannelElement {

  private ChannelElement() {}

  static Element append(Element devices, ChannelSpec spec) {
    Element channel = Xml.add(devices, "channel");
    channel.setAttribute("type", "unix");
    Element target = Xml.add(channel, "target");
    target.setAttribute("type", "virtio");
    target.setAttribute("name", spec.name());
    return channel;
  }
}
