package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <cputune>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#cpu-tuning">libvirt</a>
 */
public final class CpuTuneElement {

  private CpuTuneElement() {}

  public static Element append(Element domain, CpuTune tune) {
    Element element = Xml.add(domain, "cputune");
    tune.pins()
        .forEach(
            (vcpu, cpus) -> {
              Element pin = Xml.add(element, "vcpupin");
              pin.setAttribute("vcpu", vcpu.toString());
              pin.setAttribute("cpuset", cpus.toString());
            });
    tune.emulator()
        .ifPresent(cpus -> Xml.add(element, "emulatorpin").setAttribute("cpuset", cpus.toString()));
    return element;
  }
}
