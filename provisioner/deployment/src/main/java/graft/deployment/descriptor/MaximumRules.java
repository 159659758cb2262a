package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.guest.Guest;

/** Rules of what a guest may get at most while it runs. */
final class MaximumRules {
  private final Positions positions;
  private final Problems problems;

  MaximumRules(Positions positions, Problems problems) {
    this.positions = positions;
    this.problems = problems;
  }

  void check(Guest guest) {
    memory(guest);
    guest.maxCpus().ifPresent(most -> cpus(guest, most));
  }

  private void memory(Guest guest) {
    if (guest.maxMemory().isEmpty()) {
      return;
    }
    Position at = positions.of(guest, "max-memory");
    if (guest.maxMemory().get().compareTo(guest.memory()) < 0) {
      problems.add(
          at,
          "the guest's maximum " + guest.maxMemory().get() + " is less than its " + guest.memory(),
          "write a maximum of at least its memory, or leave it out");
    }
    boolean holdsAll = guest.placement().hugePages().isPresent() || guest.placement().locked();
    if (guest.hasDevices() || holdsAll) {
      problems.add(
          at,
          "a guest with "
              + (holdsAll ? "huge pages or locked memory" : "devices of the host")
              + " holds all of its memory from its start, which cannot change then",
          "leave 'max-memory' out");
    }
  }

  private void cpus(Guest guest, int most) {
    Position at = positions.of(guest, "max-cpus");
    if (most < guest.cpus()) {
      problems.add(
          at,
          "the guest's maximum of " + most + " CPUs is less than its " + guest.cpus(),
          "write a maximum of at least its CPUs, or leave it out");
    }
    if (!guest.placement().pin().isEmpty()) {
      problems.add(
          at,
          "each CPU of the guest is pinned to one of the host, and a further CPU would have none",
          "leave 'max-cpus' or 'pin' out; 'numa' places all CPUs on a node");
    }
    if (guest.root().isPresent()) {
      problems.add(
          at,
          "the number of a container's CPUs changes only when it starts",
          "leave 'max-cpus' out");
    }
  }
}
