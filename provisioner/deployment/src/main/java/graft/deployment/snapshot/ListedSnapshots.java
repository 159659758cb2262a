package graft.deployment.snapshot;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The snapshots of a guest.
 *
 * @param guestState in words: {@code shut off}
 * @param bytes that its disks take on the host, with their snapshots
 * @param notCovered in words: its disks that snapshots leave out
 */
public record ListedSnapshots(
    String guest,
    String guestState,
    long bytes,
    List<GuestSnapshot> snapshots,
    List<String> notCovered) {
  /** For JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", guest);
    tree.put("guestState", guestState);
    tree.put("diskBytes", bytes);
    tree.put("snapshots", snapshots.stream().map(GuestSnapshot::toTree).toList());
    tree.put("notCovered", notCovered);
    return tree;
  }
}
