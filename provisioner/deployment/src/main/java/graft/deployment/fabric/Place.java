package graft.deployment.fabric;

import java.util.List;
import java.util.Optional;

/**
 * Where on the host a guest lies.
 *
 * @param node the NUMA node that it is kept on
 * @param strict whether it has memory of that node alone
 * @param cpus the host's CPUs that all its CPUs share; empty if they may run anywhere
 * @param pins the host's CPU of each of its CPUs, in order; empty if they are not pinned one by one
 * @param why in a few words; empty if nobody asked and nothing was chosen
 */
public record Place(
    Optional<Integer> node, boolean strict, List<Integer> cpus, List<Integer> pins, String why) {
  /** Anywhere. */
  public static final Place ANYWHERE = new Place(Optional.empty(), false, List.of(), List.of(), "");
}
