package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;
import org.w3c.dom.Element;

/**
 * Builds {@code <memory>} and {@code <currentMemory>}, which are equal unless the memory may change
 * while the guest runs.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#memory-allocation">libvirt</a>
 */
public final class MemoryElements {

  private MemoryElements() {}

  /**
   * Appends the elements.
   *
   * @param variable whether the memory may change up to the size, so that the definition does not
   *     say how much the guest has now
   */
  public static void append(Element domain, MemorySize size, boolean variable) {
    add(domain, "memory", size);
    if (!variable) {
      add(domain, "currentMemory", size);
    }
  }

  private static void add(Element domain, String name, MemorySize size) {
    Xml.add(domain, name, Long.toString(size.kib())).setAttribute("unit", "KiB");
  }
}
