package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <cpu>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#cpu-model-and-topology">libvirt</a>
 */
final class CpuElement {

  private CpuElement() {}

  static Element append(Element domain, Acceleration acceleration, int cpus, boolean hide) {
    Element cpu = Xml.add(domain, "cpu");
    if (acceleration == Acceleration.KVM) {
      cpu.setAttribute("mode", "host-passthrough");
      cpu.setAttribute("check", "none");
    } else {
      // The emulator gives whatever it can: "max" has SSE4 and AVX2, which libraries built for
      // x86-64-v2 and later need. QEMU's default model has neither.
      cpu.setAttribute("mode", "maximum");
      cpu.setAttribute("check", "none");
    }
    // One socket: drivers and libraries count cores, licences count sockets.
    Element topology = Xml.add(cpu, "topology");
    topology.setAttribute("sockets", "1");
    topology.setAttribute("cores", Integer.toString(cpus));
    topology.setAttribute("threads", "1");
    if (hide) {
      Element feature = Xml.add(cpu, "feature");
      feature.setAttribute("policy", "disable");
      feature.setAttribute("name", "hypervisor");
    }
    return cpu;
  }
}
