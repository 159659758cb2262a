package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <shmem>} of the model ivshmem-plain, which has no server process and no interrupts.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#shared-memory-device">libvirt</a>
 */
final class ShmemElement {

  private ShmemElement() {}

  static Element append(Element devices, ShmemSpec spec) {
    Element shmem = Xml.add(devices, "shmem");
    shmem.setAttribute("name", spec.name());
    Xml.add(shmem, "model").setAttribute("type", "ivshmem-plain");
    Xml.add(shmem, "size", Long.toString(spec.size().mib())).setAttribute("unit", "M");
    return shmem;
  }
}
