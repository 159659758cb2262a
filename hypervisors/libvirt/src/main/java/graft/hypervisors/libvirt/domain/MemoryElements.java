package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;
import org.w3c.dom.Element;

/**
 * Builds {@code <memory>} and {@code <currentMemory>}, which are equal because Graft uses no
 * ballooning.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#memory-allocation">libvirt</a>
 */
public final class MemoryElements {

  private MemoryElements() {}

  public static void append(Element domain, MemorySize size) {
    for (String name : new String[] {"memory", "currentMemory"}) {
      Xml.add(domain, name, Long.toString(size.kib())).setAttribute("unit", "KiB");
    }
  }
}
