package graft.deployment.fabric;

import java.util.List;
import java.util.Optional;

/**
 * The placement of a guest on the host.
 *
 * @param node its NUMA node
 * @param strict whether its memory is of that node only
 * @param cpus the host's CPUs that all its CPUs share; empty if they may run anywhere
 * @param pins the host's CPU of each of its CPUs, in order; empty if they are not pinned one by one
 * @param why the reason, in a few words; empty where nothing was asked for or chosen
 */
public record Place(
    Optional<Integer> node, boolean strict, List<Integer> cpus, List<Integer> pins, String why) {
  /** No placement: anywhere on the host. */
  public static final Place ANYWHERE = new Place(Optional.empty(), false, List.of(), List.of(), "");
}
