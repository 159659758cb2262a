package graft.deployment.placement;

import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A vGPU that needs a GPU.
 *
 * @param guest the guest's name
 * @param number of the vGPU among those of the guest that say any, from 0
 * @param use what it takes of the GPU
 * @param limits whether it has settings that only a server of this host keeps
 * @param chip what the GPU must be; empty if that does not matter
 * @param node where the GPU must be: {@code host} or a node's name; empty if that does not matter
 * @param numa the NUMA node of the guest's CPUs
 * @param before the GPU that it has already
 * @param grown whether it takes more of that GPU than it has of it
 */
public record Demand(
    String guest,
    int number,
    GpuUse use,
    boolean limits,
    Optional<String> chip,
    Optional<String> node,
    OptionalInt numa,
    Optional<String> before,
    boolean grown) {
  /**
   * The order in which GPUs are chosen. It does not depend on the descriptor's order: guests that
   * are placed come first, and of these the ones that have not grown; then those that few GPUs fit,
   * and then the largest.
   */
  static final Comparator<Demand> ORDER =
      Comparator.comparing((Demand demand) -> demand.before.isEmpty())
          .thenComparing(Demand::grown)
          .thenComparing(demand -> demand.chip.isEmpty() && demand.node.isEmpty())
          .thenComparing(demand -> !demand.use.exclusive())
          .thenComparing(demand -> -demand.use.guaranteed())
          .thenComparing(demand -> -demand.use.memory())
          .thenComparing(Demand::guest)
          .thenComparing(Demand::number);

  /** Whether it takes a part of the GPU that no other guest can have then. */
  boolean isSized() {
    return use.exclusive() || use.guaranteed() > 0 || use.memory() > 0;
  }
}
