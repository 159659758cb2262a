package graft.deployment.fabric;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.bind.Spelling;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.LibvirtFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.observe.Snapshot;
import graft.hypervisors.libvirt.calls.GuestText;
import java.util.List;

/** Whether a domain that somebody else made can take what the descriptor gives it. */
public final class DomainFit {
  private static final int SAID = 200;

  private final Guest guest;
  private final Snapshot snapshot;
  private final Position at;
  private final Problems problems;

  /**
   * A check.
   *
   * @param at where the descriptor names the domain
   */
  public DomainFit(Guest guest, Snapshot snapshot, Position at, Problems problems) {
    this.guest = guest;
    this.snapshot = snapshot;
    this.at = at;
    this.problems = problems;
  }

  /** Reports what is in the way, and returns whether the domain's own system can be looked at. */
  public boolean check() {
    LibvirtFacts libvirt = snapshot.libvirt();
    if (!libvirt.answers()) {
      return false; // reported once for all guests
    }
    if (!libvirt.uri().startsWith("qemu:///")) {
      problems.add(
          at,
          "Graft attaches things to domains of KVM and QEMU alone, and libvirt is at "
              + libvirt.uri(),
          "existing: {ssh: USER@HOST} reaches any Linux machine");
      return false;
    }
    MachineFacts machine = snapshot.machines().get(guest.name().text());
    if (machine.domain().isEmpty()) {
      missing(libvirt);
      return false;
    }
    DomainFacts domain = machine.domain().get();
    if (!domain.maker().isEmpty()) {
      problems.add(
          at,
          "the domain '"
              + name()
              + "' was made by Graft, in the deployment '"
              + GuestText.line(domain.maker(), SAID)
              + "'",
          "change it in the descriptor of that deployment");
      return false;
    }
    return guest.hasVgpu() && reachable(domain);
  }

  private String name() {
    return guest.existing().flatMap(Existing::domain).orElseThrow().text();
  }

  private void missing(LibvirtFacts libvirt) {
    List<String> names = libvirt.guests().stream().map(GuestFacts::name).toList();
    String next = Spelling.hint(name(), names);
    problems.add(
        at,
        "libvirt at " + libvirt.uri() + " has no domain '" + name() + "'",
        next.isEmpty() ? "virsh list --all shows those that there are" : next);
  }

  private boolean reachable(DomainFacts domain) {
    if (!domain.running()) {
      problems.add(
          at,
          "the domain '"
              + name()
              + "' is "
              + domain.state()
              + ", and its client is brought while it runs",
          "start it (virsh start), then try again; Graft starts no domain that it did not make");
      return false;
    }
    if (!domain.isReachable()) {
      problems.add(
          at,
          "the domain '"
              + name()
              + "' has no channel to a guest agent, and the descriptor has no address for SSH",
          "write setup: {ssh: {address: ADDRESS}}, or give the domain the channel"
              + " org.qemu.guest_agent.0 and install qemu-guest-agent in it");
      return false;
    }
    return true;
  }

  /**
   * Reports devices for which the domain has no slot.
   *
   * @param devices what it is to have, by PCI address or UUID
   */
  public void checkSlots(List<String> devices) {
    snapshot
        .machines()
        .get(guest.name().text())
        .domain()
        .filter(domain -> missing(domain, devices) > domain.freeSlots())
        .ifPresent(
            domain ->
                problems.add(
                    at,
                    "the domain '"
                        + name()
                        + "' has "
                        + domain.freeSlots()
                        + " free PCI slots that take a device while it runs, and gets "
                        + missing(domain, devices)
                        + " devices",
                    "give it as many pcie-root-ports while it is off: virsh edit"));
  }

  /** How many of the devices the domain does not have yet. */
  public static long missing(DomainFacts domain, List<String> devices) {
    return devices.stream().filter(device -> !domain.attached().contains(device)).count();
  }
}
