package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.MemoryBacking;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <memoryBacking>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#memory-backing">libvirt</a>
 */
final class MemoryBackingElement {

  private MemoryBackingElement() {}

  static Element append(Element domain, MemoryBacking spec) {
    Element backing = Xml.add(domain, "memoryBacking");
    spec.hugePages()
        .ifPresent(
            size -> {
              Element page = Xml.add(Xml.add(backing, "hugepages"), "page");
              page.setAttribute("size", Long.toString(size.kib()));
              page.setAttribute("unit", "KiB");
            });
    if (spec.locked()) {
      Xml.add(backing, "locked");
    }
    if (spec.shared() || spec.hugePages().isPresent()) {
      // Anonymous memory cannot be shared. libvirt's own huge pages need a hugetlbfs that was
      // mounted for their size before libvirt's daemon started.
      Xml.add(backing, "source").setAttribute("type", "memfd");
    }
    if (spec.shared()) {
      Xml.add(backing, "access").setAttribute("mode", "shared");
    }
    return backing;
  }
}
