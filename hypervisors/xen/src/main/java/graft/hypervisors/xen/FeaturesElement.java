package graft.hypervisors.xen;

import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <features>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#hypervisor-features">libvirt</a>
 */
final class FeaturesElement {

  private FeaturesElement() {}

  static void append(Element domain, DomainSpec spec) {
    boolean hvm = spec.virtualization() == Virtualization.HVM;
    if (!hvm && spec.spareSlots() == 0) {
      return;
    }
    Element features = Xml.add(domain, "features");
    if (hvm) {
      Xml.add(features, "acpi");
      Xml.add(features, "apic");
    }
    if (spec.spareSlots() > 0) {
      Element xen = Xml.add(features, "xen");
      if (!hvm) {
        // A PV guest's memory then has the host's holes, where devices have their registers.
        on(xen, "e820_host");
      }
      // Without it Xen gives the guest no IOMMU mappings, and no device afterwards.
      on(xen, "passthrough");
    }
  }

  private static void on(Element xen, String feature) {
    Xml.add(xen, feature).setAttribute("state", "on");
  }
}
