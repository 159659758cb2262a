package graft.hypervisors.xen;

import graft.hypervisors.libvirt.domain.DiskElement;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.InterfaceElement;
import graft.hypervisors.libvirt.domain.SerialElement;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import org.w3c.dom.Element;

/**
 * Builds {@code <devices>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#devices">libvirt</a>
 */
final class DevicesElement {

  /** The number of disks of an emulated IDE controller. */
  private static final int IDE_DISKS = 4;

  private DevicesElement() {}

  static void append(Element domain, DomainSpec spec) {
    Element devices = Xml.add(domain, "devices");
    boolean hvm = spec.virtualization() == Virtualization.HVM;
    List<DiskSpec> disks = spec.disks();
    for (int i = 0; i < disks.size(); i++) {
      // Firmware boots from emulated disks only; Linux then shows all disks as xvda, xvdb ...
      boolean emulated = hvm && i < IDE_DISKS;
      String device = (emulated ? "hd" : "xvd") + (char) ('a' + i);
      DiskElement.append(devices, shown(disks.get(i)), "qemu", device, emulated ? "ide" : "xen");
    }
    spec.interfaces().forEach(i -> InterfaceElement.append(devices, i, "netfront"));
    spec.serial().ifPresent(serial -> SerialElement.append(devices, serial));
    if (!hvm) {
      console(devices);
    }
    spec.hostdevs().forEach(hostdev -> HostdevElement.append(devices, hostdev));
  }

  /** Under Xen, QEMU fails for a disk that is read-only ("Block node is read-only", 7.2). */
  private static DiskSpec shown(DiskSpec disk) {
    return disk.readOnly()
        ? new DiskSpec(disk.source(), disk.format(), DiskSpec.Kind.CDROM, true, disk.serial())
        : disk;
  }

  private static void console(Element devices) {
    Element console = Xml.add(devices, "console");
    console.setAttribute("type", "pty");
    Element target = Xml.add(console, "target");
    target.setAttribute("type", "xen");
    target.setAttribute("port", "0");
  }
}
