package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DirectKernelElements;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <os>} with a q35 machine, which has PCI Express for passthrough.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#operating-system-booting">libvirt</a>
 */
final class OsElement {

  private OsElement() {}

  static Element append(Element domain, Boot boot, String arch) {
    Element os = Xml.add(domain, "os");
    if (boot instanceof Boot.FromDisk disk && disk.firmware() == Boot.Firmware.UEFI) {
      os.setAttribute("firmware", "efi");
    }
    Element type = Xml.add(os, "type", "hvm");
    type.setAttribute("arch", arch);
    type.setAttribute("machine", KvmHypervisor.MACHINE);
    if (boot instanceof Boot.DirectKernel kernel) {
      DirectKernelElements.append(os, kernel);
    } else {
      Xml.add(os, "boot").setAttribute("dev", "hd");
    }
    return os;
  }
}
