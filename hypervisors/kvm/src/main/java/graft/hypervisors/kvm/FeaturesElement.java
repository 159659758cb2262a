package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <features>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#hypervisor-features">libvirt</a>
 */
final class FeaturesElement {

  private FeaturesElement() {}

  static Element append(Element domain, Acceleration acceleration, boolean hide) {
    Element features = Xml.add(domain, "features");
    Xml.add(features, "acpi");
    Xml.add(features, "apic");
    if (hide && acceleration == Acceleration.KVM) {
      Xml.add(Xml.add(features, "kvm"), "hidden").setAttribute("state", "on");
    }
    return features;
  }
}
