package graft.deployment.placement;

import graft.common.values.MemorySize;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** What is left of a GPU while guests are placed. */
final class Room {
  private static final int WHOLE = 100;

  private final Set<String> guests = new TreeSet<>();
  private int guaranteed;
  private long memory;
  private String alone = "";

  void take(GpuUse use) {
    guests.add(use.guest());
    guaranteed += use.guaranteed();
    memory += use.memory();
    if (use.exclusive()) {
      alone = use.guest();
    }
  }

  int guests() {
    return guests.size();
  }

  /** The part of its time that no guest has, in percent. */
  int time() {
    return Math.max(0, WHOLE - guaranteed);
  }

  /** The memory that no guest has as its limit. */
  long memory(OptionalLong all) {
    return all.isPresent() ? Math.max(0, all.getAsLong() - memory) : Long.MAX_VALUE;
  }

  /** Why the GPU does not fit; empty if it does. */
  Optional<String> refusal(Demand demand, Candidate gpu) {
    return where(demand, gpu).or(() -> chip(demand, gpu)).or(() -> room(demand, gpu));
  }

  private static Optional<String> where(Demand demand, Candidate gpu) {
    String place = gpu.node().orElse("host");
    if (gpu.obstacle().isPresent()) {
      return gpu.obstacle();
    }
    if (demand.node().isPresent() && !demand.node().get().equals(place)) {
      return Optional.of(
          gpu.node().map(node -> "it is of the node " + node).orElse("it is this host's"));
    }
    return gpu.node()
        .filter(node -> demand.limits())
        .map(
            node ->
                "the server of the node "
                    + node
                    + " says what a guest gets, and not this descriptor");
  }

  private static Optional<String> chip(Demand demand, Candidate gpu) {
    if (demand.chip().isEmpty()) {
      return Optional.empty();
    }
    if (gpu.chip().isEmpty()) {
      return Optional.of("its chip is not known; 'chip' of the GPU can say it");
    }
    String has = " " + gpu.chip().get().toLowerCase(Locale.ROOT) + " ";
    String wanted = " " + demand.chip().get().strip().toLowerCase(Locale.ROOT) + " ";
    return has.contains(wanted) ? Optional.empty() : Optional.of("it is " + gpu.chip().get());
  }

  private Optional<String> room(Demand demand, Candidate gpu) {
    GpuUse use = demand.use();
    if (guests.contains(use.guest())) {
      return Optional.of("the guest uses it already");
    }
    if (!alone.isEmpty()) {
      return Optional.of("'" + alone + "' has it to itself");
    }
    if (use.exclusive() && !guests.isEmpty()) {
      return Optional.of("'" + guests.iterator().next() + "' uses it");
    }
    if (use.guaranteed() > time()) {
      return Optional.of(
          time() + " percent of its time are free, of " + use.guaranteed() + " asked");
    }
    if (use.memory() > 0 && gpu.memory().isEmpty()) {
      return Optional.of("how much memory it has is not known");
    }
    long free = memory(gpu.memory());
    return use.memory() > free
        ? Optional.of(
            new MemorySize(free)
                + " of its memory are free, of "
                + new MemorySize(use.memory())
                + " asked")
        : Optional.empty();
  }
}
