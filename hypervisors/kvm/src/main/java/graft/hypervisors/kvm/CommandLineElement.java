package graft.hypervisors.kvm;

import graft.common.values.MemorySize;
import org.w3c.dom.Element;

/**
 * Builds {@code <qemu:commandline>} with the size of the 64-bit window for PCI devices, in MiB, in
 * the form that OVMF reads (edk2, OvmfPkg/Library/PlatformInitLib/MemDetect.c). libvirt's element
 * for such settings rejects names below {@code opt/ovmf}.
 *
 * @see <a
 *     href="https://libvirt.org/drvqemu.html#pass-through-of-arbitrary-qemu-commands">libvirt</a>
 */
final class CommandLineElement {
  private static final String NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0";

  private CommandLineElement() {}

  static Element append(Element domain, MemorySize window) {
    domain.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:qemu", NAMESPACE);
    Element line = domain.getOwnerDocument().createElementNS(NAMESPACE, "qemu:commandline");
    domain.appendChild(line);
    argument(line, "-fw_cfg");
    argument(line, "name=opt/ovmf/X-PciMmio64Mb,string=" + window.kib() / 1024);
    return line;
  }

  private static void argument(Element line, String value) {
    Element argument = line.getOwnerDocument().createElementNS(NAMESPACE, "qemu:arg");
    argument.setAttribute("value", value);
    line.appendChild(argument);
  }
}
