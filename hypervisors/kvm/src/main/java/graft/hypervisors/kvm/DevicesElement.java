package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.DiskElement;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.InterfaceElement;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.SerialElement;
import graft.hypervisors.libvirt.domain.ShmemElement;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <devices>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#devices">libvirt</a>
 */
final class DevicesElement {

  private DevicesElement() {}

  static Element append(Element domain, DomainSpec spec) {
    Element devices = Xml.add(domain, "devices");
    disks(devices, spec);
    spec.interfaces().forEach(i -> networkInterface(devices, i));
    spec.serial().ifPresent(serial -> SerialElement.appendTerminal(devices, serial));
    spec.channels().forEach(channel -> ChannelElement.append(devices, channel));
    slots(devices, spec);
    spec.hostdevs().forEach(hostdev -> HostdevElement.append(devices, hostdev));
    spec.vsock().ifPresent(vsock -> VsockElement.append(devices, vsock));
    spec.sharedMemory().forEach(shmem -> ShmemElement.append(devices, shmem));
    // Passed-through devices pin all of the guest's memory.
    String balloon = spec.variableMemory() ? "virtio" : "none";
    Xml.add(devices, "memballoon").setAttribute("model", balloon);
    random(devices);
    return devices;
  }

  /**
   * A running q35 machine accepts new devices only in empty root ports. Ports that are written out
   * are filled first, and libvirt then adds no spare one.
   */
  private static void slots(Element devices, DomainSpec spec) {
    if (spec.spareSlots() == 0) {
      return;
    }
    int ports = spec.spareSlots() + used(spec);
    controller(devices, 0, "pcie-root");
    for (int i = 1; i <= ports; i++) {
      controller(devices, i, "pcie-root-port");
    }
  }

  /** The number of ports that the guest's own devices take. */
  private static int used(DomainSpec spec) {
    long disks = spec.disks().stream().filter(d -> d.kind() == DiskSpec.Kind.DISK).count();
    int randomAndUsb = 2; // libvirt adds a USB controller
    return randomAndUsb
        + Math.toIntExact(disks)
        + spec.interfaces().size()
        + spec.hostdevs().size()
        + (spec.channels().isEmpty() ? 0 : 1)
        + (spec.vsock().isPresent() ? 1 : 0)
        + (spec.sharedMemory().isEmpty() ? 0 : 1) // behind a bridge
        + (spec.variableMemory() ? 1 : 0);
  }

  private static void controller(Element devices, int index, String model) {
    Element controller = Xml.add(devices, "controller");
    controller.setAttribute("type", "pci");
    controller.setAttribute("index", Integer.toString(index));
    controller.setAttribute("model", model);
  }

  private static void disks(Element devices, DomainSpec spec) {
    int disk = 0;
    int cdrom = 0;
    for (DiskSpec one : spec.disks()) {
      if (one.kind() == DiskSpec.Kind.CDROM) {
        DiskElement.append(devices, one, "qemu", DeviceName.of("sd", cdrom++), "sata");
      } else {
        DiskElement.append(devices, one, "qemu", DeviceName.of("vd", disk++), "virtio");
      }
    }
  }

  private static void networkInterface(Element devices, InterfaceSpec spec) {
    Element element = InterfaceElement.append(devices, spec, "virtio");
    // Graft's guests do not boot from the network, and the boot ROM costs seconds under emulation.
    Xml.add(element, "rom").setAttribute("enabled", "no");
  }

  /** Without this device a new guest waits long for randomness before it generates its SSH keys. */
  private static void random(Element devices) {
    Element rng = Xml.add(devices, "rng");
    rng.setAttribute("model", "virtio");
    Xml.add(rng, "backend", "/dev/urandom").setAttribute("model", "random");
  }
}
