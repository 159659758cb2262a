package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.hosts.Host;
import java.util.Locale;
import java.util.Optional;

/** Rules of hosts that are reached by libvirt's URIs: nothing else may contradict the URI. */
final class HostUriRules {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  HostUriRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check() {
    for (Host host : descriptor.hosts()) {
      if (host.ssh() != null && host.ssh().libvirt().isPresent()) {
        once(host, "port", host.ssh().port());
        once(host, "key", host.ssh().key());
        once(host, "known-hosts", host.ssh().knownHosts());
        daemon(host);
        account(host);
      }
    }
  }

  private void once(Object host, String key, Optional<?> inUri) {
    if (inUri.isPresent() && positions.has(host, key)) {
      problems.add(
          positions.of(host, key), "the URI of 'ssh' says this too", "leave one of them out");
    }
  }

  private void daemon(Host host) {
    var uri = host.ssh().libvirt().orElseThrow();
    HypervisorChoice wanted = descriptor.hypervisor();
    if (wanted != null && !wanted.fits(uri.driver())) {
      problems.add(
          place(host),
          "libvirt's driver '"
              + uri.driver()
              + "' runs no guests of the descriptor's hypervisor, "
              + wanted.name().toLowerCase(Locale.ROOT),
          "change 'hypervisor' or leave it out; or write another driver into the URI");
    }
    LibvirtUri libvirt = descriptor.libvirt();
    if (libvirt != null
        && libvirt.isLocal()
        && !libvirt.isAuto()
        && !libvirt.text().equals(uri.toString())) {
      problems.add(
          place(host),
          "the URI chooses " + uri + ", and the descriptor's key 'libvirt' another daemon",
          "leave 'libvirt' out");
    }
  }

  private void account(Host host) {
    boolean isRoot;
    try {
      isRoot = host.ssh().account().isRoot();
    } catch (IllegalArgumentException e) { // a name such as those of Active Directory
      problems.add(
          place(host),
          "the URI names no user, and no user of the host has the name of this machine's",
          "write USER@ before the host");
      return;
    }
    if (!isRoot && host.ssh().libvirt().orElseThrow().isSession()) {
      problems.add(
          place(host),
          "Graft works on a host as root, and would use root's session daemon, not that of "
              + host.ssh().account(),
          "write /system; or run graft on the host itself as " + host.ssh().account());
    }
  }

  /** Where the URI is written; the descriptor itself if the command line has it. */
  private Position place(Host host) {
    return positions.has(host, "ssh")
        ? positions.of(host, "ssh")
        : positions.of(descriptor, "libvirt");
  }
}
