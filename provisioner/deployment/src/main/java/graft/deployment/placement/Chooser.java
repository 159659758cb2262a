package graft.deployment.placement;

import graft.common.values.MemorySize;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses a GPU for each vGPU that may have any. The same GPUs and guests give the same choice, in
 * whatever order the guests are written.
 *
 * <p>A guest stays on the GPU that it has as long as it fits there. Of the others those that few
 * GPUs fit come first, and then the largest (best fit decreasing, Johnson 1973): each gets, of the
 * GPUs that fit, the one with the least left, so that whole GPUs stay free for large guests. A
 * guest that takes nothing away from others gets the GPU with the fewest guests. This host comes
 * before nodes, and the NUMA node of the guest's CPUs before others.
 */
final class Chooser {
  private final List<Candidate> gpus;
  private final Map<String, Room> rooms = new HashMap<>();

  /**
   * Chooses among GPUs.
   *
   * @param uses what is taken of each GPU, by its name: by guests that name it, and by other
   *     deployments
   */
  Chooser(List<Candidate> gpus, Map<String, List<GpuUse>> uses) {
    this.gpus = gpus;
    for (Candidate gpu : gpus) {
      uses.getOrDefault(gpu.name(), List.of()).forEach(room(gpu)::take);
    }
  }

  private Room room(Candidate gpu) {
    return rooms.computeIfAbsent(gpu.device(), device -> new Room());
  }

  /** The choices in the order of {@link Demand#ORDER}; one without a GPU where none fits. */
  List<Choice> choose(List<Demand> demands) {
    List<Choice> choices = new ArrayList<>();
    List<Demand> unplaced = new ArrayList<>();
    for (Demand demand : demands.stream().sorted(Demand.ORDER).toList()) {
      Optional<Candidate> before =
          demand
              .before()
              .flatMap(name -> gpus.stream().filter(g -> g.name().equals(name)).findAny());
      if (before.isPresent() && room(before.get()).refusal(demand, before.get()).isEmpty()) {
        room(before.get()).take(demand.use());
        choices.add(new Choice(demand, before.get(), "where it was before", Map.of()));
      } else {
        unplaced.add(demand);
      }
    }
    unplaced.forEach(demand -> choices.add(choose(demand)));
    return choices;
  }

  private Choice choose(Demand demand) {
    Map<String, String> refused = new LinkedHashMap<>();
    List<Candidate> fit = new ArrayList<>();
    for (Candidate gpu : gpus) {
      room(gpu)
          .refusal(demand, gpu)
          .ifPresentOrElse(why -> refused.put(gpu.name(), why), () -> fit.add(gpu));
    }
    demand
        .before()
        .filter(before -> gpus.stream().noneMatch(gpu -> gpu.name().equals(before)))
        .ifPresent(before -> refused.put(before, "it is no longer in the descriptor"));
    Optional<Candidate> best = fit.stream().min(better(demand));
    if (best.isEmpty()) {
      return new Choice(demand, null, "", refused);
    }
    fit.stream()
        .filter(gpu -> !gpu.equals(best.get()))
        .forEach(gpu -> refused.put(gpu.name(), "fits too"));
    Room room = room(best.get());
    int guests = room.guests();
    room.take(demand.use());
    return new Choice(demand, best.get(), why(demand, best.get(), fit.size(), guests), refused);
  }

  private Comparator<Candidate> better(Demand demand) {
    Comparator<Candidate> near =
        Comparator.comparing((Candidate gpu) -> gpu.node().isPresent())
            .thenComparing(gpu -> demand.numa().isPresent() && !gpu.numa().equals(demand.numa()));
    Comparator<Candidate> fullest =
        Comparator.comparing((Candidate gpu) -> room(gpu).time())
            .thenComparing(gpu -> room(gpu).memory(gpu.memory()));
    Comparator<Candidate> emptiest =
        Comparator.comparing((Candidate gpu) -> room(gpu).guests())
            .thenComparing(gpu -> -room(gpu).time());
    return near.thenComparing(demand.isSized() ? fullest : emptiest); // then the first
  }

  /** The reason, once the room is taken. */
  private String why(Demand demand, Candidate gpu, int fit, int guests) {
    if (fit == 1) {
      return "the only one that fits";
    }
    if (!demand.isSized()) {
      return "which has the fewest guests of those that fit (" + guests + ")";
    }
    Room room = room(gpu);
    String memory =
        gpu.memory().isPresent()
            ? " and " + new MemorySize(room.memory(gpu.memory())).rounded() + " of its memory"
            : "";
    return "the fullest that fits: " + room.time() + " percent of its time" + memory + " stay free";
  }
}
