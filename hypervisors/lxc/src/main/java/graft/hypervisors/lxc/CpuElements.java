package graft.hypervisors.lxc;

import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeSet;
import org.w3c.dom.Element;

/**
 * Builds {@code <vcpu>} and {@code <cputune>}. A container has no virtual CPUs: it sees those of
 * the host, and its cgroup limits the time that it gets of them and which of them it may use.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#cpu-tuning">libvirt</a>
 */
final class CpuElements {
  /** The kernel's usual period of bandwidth control, in microseconds. */
  private static final long PERIOD = 100_000;

  private CpuElements() {}

  static void append(Element domain, int cpus, Optional<CpuTune> tune) {
    Element vcpu = Xml.add(domain, "vcpu", Integer.toString(cpus));
    tune.flatMap(CpuElements::all).ifPresent(set -> vcpu.setAttribute("cpuset", set.toString()));
    Element cputune = Xml.add(domain, "cputune");
    Xml.add(cputune, "period", Long.toString(PERIOD));
    Xml.add(cputune, "quota", Long.toString(PERIOD * cpus));
  }

  /** The CPUs of all pins together. */
  private static Optional<CpuSet> all(CpuTune tune) {
    TreeSet<Integer> numbers = new TreeSet<>();
    tune.pins().values().forEach(set -> Arrays.stream(set.toArray()).forEach(numbers::add));
    return numbers.isEmpty() ? Optional.empty() : Optional.of(CpuSet.of(numbers));
  }
}
