package graft.deployment.snapshot;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A snapshot of a guest's disks.
 *
 * @param disks the disks that have it
 * @param lacking the guest's other disks: made after the snapshot, or not reached by a command that
 *     was interrupted
 */
public record GuestSnapshot(
    String name, Instant taken, List<String> disks, List<String> lacking, Kind kind) {
  /** What can be done with a snapshot. */
  public enum Kind {
    WHOLE("whole"),
    /** A command that made or deleted it was interrupted: it can only be deleted. */
    PARTIAL("made or deleted in part: graft snapshot delete deletes the rest"),
    /** A command that restored it was interrupted. */
    RESTORING("restored in part: graft snapshot restore does the rest"),
    /** Made by another program, with the memory of the running guest. */
    WITH_MEMORY("has a running guest's memory, and was not made by Graft: see virsh snapshot-list");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }

  /** For JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", name);
    tree.put("taken", taken.toString());
    tree.put("disks", disks);
    tree.put("lacking", lacking);
    tree.put("state", kind.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-'));
    return tree;
  }
}
