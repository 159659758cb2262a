package graft.hypervisors.xen;

import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DirectKernelElements;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <os>}, and the {@code <bootloader>} of guests without firmware.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#operating-system-booting">libvirt</a>
 */
final class OsElement {

  private OsElement() {}

  /** libvirt's name of a kind of guest. */
  static String osType(Virtualization kind) {
    return switch (kind) {
      case HVM -> "hvm";
      case PVH -> "xenpvh";
      case PV -> "xen";
      case CONTAINER -> "exe";
    };
  }

  private static String machine(Virtualization kind) {
    return switch (kind) {
      case HVM -> "xenfv";
      case PVH -> "xenpvh";
      case PV -> "xenpv";
      case CONTAINER -> "";
    };
  }

  static void append(Element domain, DomainSpec spec, String arch) {
    Virtualization kind = spec.virtualization();
    boolean firmware = kind == Virtualization.HVM;
    if (spec.boot() instanceof Boot.FromDisk && !firmware) {
      Xml.add(domain, "bootloader", "pygrub"); // loads the kernel from the guest's disk
    }
    Element os = Xml.add(domain, "os");
    Element type = Xml.add(os, "type", osType(kind));
    type.setAttribute("arch", arch);
    type.setAttribute("machine", machine(kind));
    if (spec.boot() instanceof Boot.DirectKernel kernel) {
      DirectKernelElements.append(os, kernel);
    } else if (firmware) {
      Xml.add(os, "boot").setAttribute("dev", "hd");
    }
  }
}
