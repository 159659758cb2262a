package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <shmem>} of the model ivshmem-plain, which has no server process and no interrupts.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#shared-memory-device">libvirt</a>
 */
public final class ShmemElement {

  private ShmemElement() {}

  /** Appends the element to those of a domain's devices. */
  public static Element append(Element devices, ShmemSpec spec) {
    return fill(Xml.add(devices, "shmem"), spec);
  }

  /** Creates the element in a document of its own, to attach or detach the memory. */
  public static Element create(ShmemSpec spec) {
    return fill(Xml.newDocument("shmem").getDocumentElement(), spec);
  }

  private static Element fill(Element shmem, ShmemSpec spec) {
    shmem.setAttribute("name", spec.name());
    Xml.add(shmem, "model").setAttribute("type", "ivshmem-plain");
    Xml.add(shmem, "size", Long.toString(spec.size().mib())).setAttribute("unit", "M");
    return shmem;
  }
}
