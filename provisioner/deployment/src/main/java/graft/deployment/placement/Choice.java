package graft.deployment.placement;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The GPU that was chosen for a vGPU, and why.
 *
 * @param gpu the GPU; null if none fits
 * @param why the reason, in a few words
 * @param refused why others are not chosen, by their names
 */
public record Choice(Demand demand, Candidate gpu, String why, Map<String, String> refused) {
  /** A host has few GPUs; of a cluster's nobody reads all. */
  private static final int MOST_SHOWN = 8;

  /** Whether a GPU was found. */
  boolean isMade() {
    return gpu != null;
  }

  /** The GPU that the guest has and leaves. */
  private Optional<String> left() {
    return demand.before().filter(before -> gpu != null && !before.equals(gpu.name()));
  }

  /** Why no other GPU was chosen: {@code gpu0: 30 percent of its time are free, of 50 asked}. */
  String reasons() {
    List<String> said =
        refused.entrySet().stream()
            .limit(MOST_SHOWN)
            .map(one -> one.getKey() + ": " + one.getValue())
            .collect(Collectors.toCollection(ArrayList::new));
    if (refused.size() > said.size()) {
      said.add(refused.size() - said.size() + " more");
    }
    return String.join("; ", said);
  }

  /** As a line of a plan. */
  @Override
  public String toString() {
    String name = "the vGPU " + (demand.number() == 0 ? "" : demand.number() + 1 + " ");
    return name
        + "of '"
        + demand.guest()
        + "' "
        + left().map(from -> "moves from '" + from + "' to '").orElse("is on '")
        + gpu.name()
        + "', "
        + why
        + (refused.isEmpty() ? "" : " (" + reasons() + ")");
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", demand.guest());
    tree.put("number", demand.number());
    tree.put("gpu", gpu.name());
    demand.before().ifPresent(before -> tree.put("before", before));
    tree.put("why", why);
    tree.put("others", refused);
    return tree;
  }
}
