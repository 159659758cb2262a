package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.VsockSpec;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <vsock>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#vsock">libvirt</a>
 */
final class VsockElement {

  private VsockElement() {}

  static Element append(Element devices, VsockSpec spec) {
    Element vsock = Xml.add(devices, "vsock");
    vsock.setAttribute("model", "virtio");
    Element cid = Xml.add(vsock, "cid");
    if (spec.cid().isPresent()) {
      cid.setAttribute("auto", "no");
      cid.setAttribute("address", Long.toString(spec.cid().getAsLong()));
    } else {
      cid.setAttribute("auto", "yes");
    }
    return vsock;
  }
}
