package graft.deployment.fabric;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Placement;
import graft.deployment.descriptor.guest.Placement.Numa;
import graft.sriov.host.NumaNode;
import graft.sriov.host.PciDevice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Chooses the placement of a guest: CPUs and memory on the NUMA node of its devices, because a copy
 * to a device of another node crosses the link between the nodes.
 */
final class PlacePlanner {
  private final List<NumaNode> nodes;
  private final Function<PciDevice, Optional<Integer>> nodeOf;
  private final Positions positions;
  private final Problems problems;

  PlacePlanner(
      List<NumaNode> nodes,
      Function<PciDevice, Optional<Integer>> nodeOf,
      Positions positions,
      Problems problems) {
    this.nodes = nodes;
    this.nodeOf = nodeOf;
    this.positions = positions;
    this.problems = problems;
  }

  /**
   * The place of a guest.
   *
   * @param devices its devices
   * @param runs whether it runs already, with its memory allocated
   */
  Place place(Guest guest, List<PciDevice> devices, boolean runs) {
    Placement asked = guest.placement();
    pins(asked);
    boolean strict = asked.numa() == Numa.STRICT;
    if (asked.numa() == Numa.OFF) {
      return new Place(Optional.empty(), false, List.of(), asked.pin(), pinned(asked, "numa: off"));
    }
    List<PciDevice> placed =
        devices.stream().filter(device -> nodeOf.apply(device).isPresent()).toList();
    Set<Integer> near = new LinkedHashSet<>();
    // The GPU first: its copies are the largest.
    placed.stream().filter(PciDevice::isDisplay).forEach(d -> near.add(nodeOf.apply(d).get()));
    placed.forEach(device -> near.add(nodeOf.apply(device).get()));
    List<Integer> bare = near.stream().filter(number -> isBare(number)).toList();
    near.removeAll(bare);
    String reason = "";
    if (near.isEmpty()) {
      nodeOfPins(asked).ifPresent(near::add);
      reason = "where its CPUs are pinned";
    }
    if (strict && near.size() > 1) {
      problems.add(
          positions.of(asked, "numa"),
          "its devices are on the NUMA nodes " + near + ", and it cannot be near all of them",
          "give it devices of one node, or write numa: auto");
    }
    Optional<NumaNode> node = near.stream().findFirst().flatMap(this::node);
    if (node.isEmpty() && !bare.isEmpty()) {
      return nowhereNear(asked, bare);
    }
    if (node.isEmpty()) {
      boolean missing = devices.isEmpty() && guest.hasDevices();
      if (strict && !missing) {
        problems.add(
            positions.of(asked, "numa"),
            "the guest '" + guest.name() + "' has no device whose NUMA node is known",
            "pin its CPUs, or write numa: auto");
      }
      return new Place(Optional.empty(), false, List.of(), asked.pin(), pinned(asked, ""));
    }
    int number = node.get().number();
    if (reason.isEmpty()) {
      reason =
          "near "
              + placed.stream()
                  .filter(device -> nodeOf.apply(device).get() == number)
                  .findFirst()
                  .orElseThrow()
                  .address();
    }
    return on(
        guest, node.get(), reason + (near.size() > 1 ? ", not near all of its devices" : ""), runs);
  }

  /**
   * The place of a guest whose devices are all on nodes without CPUs. Such a node is memory of a
   * GPU, or memory behind CXL: a guest's memory does not belong there.
   */
  private Place nowhereNear(Placement asked, List<Integer> bare) {
    String what = "the NUMA nodes of its devices, " + bare + ", have no CPUs";
    if (asked.numa() == Numa.STRICT) {
      problems.add(
          positions.of(asked, "numa"),
          what,
          "pin its CPUs to those of a node, or write numa: auto");
    }
    return new Place(Optional.empty(), false, List.of(), asked.pin(), pinned(asked, what));
  }

  private boolean isBare(int number) {
    return node(number).filter(node -> !node.hasCpus()).isPresent();
  }

  private Place on(Guest guest, NumaNode node, String reason, boolean runs) {
    Placement asked = guest.placement();
    boolean strict = asked.numa() == Numa.STRICT;
    if (nodes.size() == 1 && !strict) {
      String only = "the host's only NUMA node";
      return new Place(Optional.empty(), false, List.of(), asked.pin(), pinned(asked, only));
    }
    boolean fits = guest.cpus() <= node.cpus().size();
    if (strict) {
      room(guest, node, fits, runs);
    }
    List<Integer> cpus = asked.pin().isEmpty() && fits ? node.cpus() : List.of();
    String where =
        "NUMA node "
            + node.number()
            + ", "
            + reason
            + (strict ? ", no memory of other nodes" : "")
            + (asked.pin().isEmpty() && !fits ? ", which has too few CPUs for it" : "");
    return new Place(Optional.of(node.number()), strict, cpus, asked.pin(), pinned(asked, where));
  }

  /** Reports why a guest with strict placement cannot be placed on the node. */
  private void room(Guest guest, NumaNode node, boolean fits, boolean runs) {
    Placement asked = guest.placement();
    if (!fits && asked.pin().isEmpty()) {
      problems.add(
          positions.of(guest, "cpus"),
          "NUMA node " + node.number() + " has " + node.cpus().size() + " CPUs for " + guest.cpus(),
          "give the guest fewer, or write numa: auto");
    }
    for (int cpu : asked.pin()) {
      if (!node.cpus().contains(cpu)) {
        problems.add(
            positions.of(asked, "pin"),
            "CPU " + cpu + " is not on NUMA node " + node.number() + ", where its devices are",
            "that node has the CPUs " + ranges(node.cpus()));
        break;
      }
    }
    long free = node.free().bytes();
    if (!runs && asked.hugePages().isEmpty() && free < guest.memory().bytes()) {
      problems.add(
          positions.of(guest, "memory"),
          "NUMA node "
              + node.number()
              + " has "
              + new MemorySize(free).rounded()
              + " free for "
              + guest.memory(),
          "give the guest less, or write numa: auto");
    }
  }

  private void pins(Placement asked) {
    Set<Integer> all = new LinkedHashSet<>();
    nodes.forEach(node -> all.addAll(node.cpus()));
    for (int cpu : asked.pin()) {
      if (!all.isEmpty() && !all.contains(cpu)) {
        problems.add(
            positions.of(asked, "pin"),
            "the host has no CPU " + cpu,
            "it has " + ranges(new ArrayList<>(all)));
        return;
      }
    }
  }

  private Optional<Integer> nodeOfPins(Placement asked) {
    Set<Integer> found = new LinkedHashSet<>();
    for (int cpu : asked.pin()) {
      nodes.stream().filter(n -> n.cpus().contains(cpu)).forEach(n -> found.add(n.number()));
    }
    return found.size() == 1 ? found.stream().findFirst() : Optional.empty();
  }

  private Optional<NumaNode> node(int number) {
    return nodes.stream().filter(node -> node.number() == number).findFirst();
  }

  private static String pinned(Placement asked, String where) {
    if (asked.pin().isEmpty()) {
      return where;
    }
    return where + (where.isEmpty() ? "" : ", ") + "pinned to the CPUs " + ranges(asked.pin());
  }

  /** A list of CPUs in the kernel's format: {@code 0-3,8}. */
  static String ranges(List<Integer> numbers) {
    return graft.hypervisors.libvirt.domain.CpuSet.of(numbers).toString();
  }
}
