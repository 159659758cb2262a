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
        // The memory of a PV guest then has the host's holes, where the registers of devices are.
        on(xen, "e820_host");
      }
      // Without this element Xen creates no IOMMU mappings for the guest, which then cannot get a
      // device later.
      on(xen, "passthrough");
    }
  }

  private static void on(Element xen, String feature) {
    Xml.add(xen, feature).setAttribute("state", "on");
  }
}
