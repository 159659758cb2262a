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
    cpu.setAttribute("check", "none");
    boolean emulated = acceleration == Acceleration.EMULATION;
    // The emulator's full feature set includes AVX2. Libraries built for x86-64-v3 need AVX2, and
    // QEMU's default model lacks it.
    cpu.setAttribute("mode", emulated ? "maximum" : "host-passthrough");
    // The guest has one socket: drivers and libraries count cores, licences count sockets.
    Element topology = Xml.add(cpu, "topology");
    topology.setAttribute("sockets", "1");
    topology.setAttribute("cores", Integer.toString(cpus));
    topology.setAttribute("threads", "1");
    if (emulated) {
      // Page tables of five levels cost an emulated guest a third of its speed at boot.
      disable(cpu, "la57");
    }
    if (hide) {
      disable(cpu, "hypervisor");
    }
    return cpu;
  }

  private static void disable(Element cpu, String name) {
    Element feature = Xml.add(cpu, "feature");
    feature.setAttribute("policy", "disable");
    feature.setAttribute("name", name);
  }
}
