package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.Guest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Refuses hosts that use each other's GPUs in a circle: none of them could be applied before the
 * others.
 */
final class HostCircle {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  HostCircle(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check(List<HostPart> parts) {
    Map<Name, HostPart> byName = new HashMap<>();
    parts.forEach(part -> byName.put(part.name(), part));
    Set<Name> left = new HashSet<>();
    for (HostPart part : parts) { // in their order: what a host needs came before it
      if (left.containsAll(part.after())) {
        left.add(part.name());
        continue;
      }
      List<Name> circle = circle(part, byName, left);
      Name user = byName.get(circle.get(0)).uses().get(circle.get(1));
      Guest guest = descriptor.guest(user).orElseThrow();
      problems.add(
          positions.of(guest, "vgpu"),
          "hosts use each other's GPUs in a circle: "
              + String.join(" uses ", circle.stream().map(Name::text).toList()),
          "each host is applied once those whose GPUs it uses serve them; move a GPU or a guest, or"
              + " write two deployments");
      return;
    }
  }

  /** A circle that the host is in or leads to, whose first host is also its last. */
  private static List<Name> circle(HostPart from, Map<Name, HostPart> byName, Set<Name> left) {
    List<Name> way = new ArrayList<>();
    Name at = from.name();
    while (!way.contains(at)) {
      way.add(at);
      at =
          byName.get(at).after().stream()
              .filter(next -> !left.contains(next))
              .sorted()
              .findFirst()
              .orElseThrow();
    }
    way.add(at);
    return way.subList(way.indexOf(at), way.size());
  }
}
