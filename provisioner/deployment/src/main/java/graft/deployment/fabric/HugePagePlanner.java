package graft.deployment.fabric;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Step;
import graft.deployment.step.device.ReserveHugePages;
import graft.sriov.host.HugePages;
import graft.sriov.host.NumaNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Plans the huge pages for the guests' memory on each NUMA node. */
final class HugePagePlanner {
  private final List<NumaNode> nodes;
  private final Positions positions;
  private final Problems problems;
  private final Map<Key, Integer> pages = new LinkedHashMap<>();
  private final Map<Key, Guest> last = new LinkedHashMap<>();

  private record Key(NumaNode node, MemorySize size) {}

  HugePagePlanner(List<NumaNode> nodes, Positions positions, Problems problems) {
    this.nodes = nodes;
    this.positions = positions;
    this.problems = problems;
  }

  void add(Guest guest, Place place) {
    if (guest.placement().hugePages().isEmpty()) {
      return;
    }
    MemorySize size = guest.placement().hugePages().get();
    var at = positions.of(guest.placement(), "huge-pages");
    Optional<NumaNode> node =
        nodes.stream()
            .filter(n -> place.node().map(number -> number == n.number()).orElse(true))
            .findFirst();
    if (node.isEmpty() || node.get().pages(size).isEmpty()) {
      problems.add(
          at,
          "this host has no huge pages of " + size,
          node.map(n -> "it has " + n.hugePages().stream().map(HugePages::size).toList())
              .orElse(""));
      return;
    }
    if (guest.memory().bytes() % size.bytes() != 0) {
      problems.add(at, guest.memory() + " of memory is not a multiple of pages of " + size);
      return;
    }
    Key key = new Key(node.get(), size);
    pages.merge(key, Math.toIntExact(guest.memory().bytes() / size.bytes()), Integer::sum);
    last.put(key, guest);
  }

  List<Step> steps(JournalState journal) {
    List<Step> steps = new ArrayList<>();
    pages.forEach(
        (key, count) -> {
          ReserveHugePages step =
              new ReserveHugePages(key.node().number(), key.size().bytes(), count);
          room(key, count, journal.entry(step.id()));
          steps.add(step);
        });
    return steps;
  }

  /** The pages that an earlier apply reserved; the host has them already. */
  private void room(Key key, int count, Optional<Entry> entry) {
    HugePages there = key.node().pages(key.size()).orElseThrow();
    long missing = (long) count - (entry.isPresent() ? there.total() : there.free());
    if (missing > 0 && missing * key.size().bytes() > key.node().free().bytes()) {
      problems.add(
          positions.of(last.get(key).placement(), "huge-pages"),
          "NUMA node "
              + key.node().number()
              + " has "
              + key.node().free().rounded()
              + " free for "
              + missing
              + " more huge pages of "
              + key.size(),
          "give the guests less memory, or spread them over the nodes");
    }
  }
}
