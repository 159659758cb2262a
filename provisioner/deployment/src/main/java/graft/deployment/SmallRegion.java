package graft.deployment;

import graft.common.values.MemorySize;
import graft.deployment.journal.JournalState;
import graft.deployment.step.guest.MakeRegion;
import graft.hypervisors.libvirt.calls.GuestText;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A guest whose programs had more pinned and managed memory than the region that it shares with the
 * server has room for. The figure is the guest's claim: it is for people to read.
 *
 * @param region the size of the region
 * @param lacked the most memory at one time for which the region had no room
 * @param at when that was
 */
public record SmallRegion(String guest, MemorySize region, MemorySize lacked, Instant at) {
  /** Where a server's regions that were too small are. */
  static final String KEY = "smallRegions";

  private static final int LONGEST_NAME = 100;

  /** The largest region, and no session can lack more. */
  private static final long LARGEST = 1L << 40;

  /**
   * Reads a server's answer to its operators. What has another form is left out: a server that is
   * not sound may have answered anything.
   */
  public static List<SmallRegion> of(Map<String, Object> answer) {
    return answer.get("server") instanceof Map<?, ?> server ? in(server) : List.of();
  }

  /** Reads {@link #KEY} of a server's part of an answer, or of {@link DeploymentStatus#servers}. */
  public static List<SmallRegion> in(Map<?, ?> server) {
    List<SmallRegion> all = new ArrayList<>();
    if (server.get(KEY) instanceof List<?> list) {
      for (Object each : list) {
        if (each instanceof Map<?, ?> one) {
          read(one).ifPresent(all::add);
        }
      }
    }
    return all;
  }

  private static Optional<SmallRegion> read(Map<?, ?> tree) {
    if (tree.get("guest") instanceof String guest
        && tree.get("regionBytes") instanceof Long region
        && tree.get("lackedBytes") instanceof Long lacked
        && tree.get("at") instanceof String at
        && region > 0
        && region <= LARGEST
        && lacked > 0) {
      try {
        return Optional.of(
            new SmallRegion(
                GuestText.line(guest, LONGEST_NAME),
                new MemorySize(region),
                new MemorySize(Math.min(lacked, LARGEST)),
                Instant.parse(at)));
      } catch (DateTimeException e) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /**
   * Whether the guest still has that region: an apply may have made a larger one since, with which
   * no program has begun a session yet.
   */
  boolean isThatOf(JournalState journal) {
    return journal.entries().values().stream()
        .map(entry -> entry.step())
        .filter(MakeRegion.class::isInstance)
        .map(MakeRegion.class::cast)
        .anyMatch(made -> made.guest().equals(guest) && made.size().equals(region));
  }

  /**
   * The size that has room for all of it. A region gives no more than half of itself at once, so
   * that it is twice as large as what was lacked, which may be one allocation.
   */
  public MemorySize enough() {
    long wanted = Math.max(region.bytes() + lacked.bytes(), 2 * lacked.bytes());
    return new MemorySize(wanted >= LARGEST ? LARGEST : Long.highestOneBit(wanted - 1) << 1);
  }

  @Override
  public String toString() {
    return "guest "
        + guest
        + ": its region of "
        + region
        + " was too small: its programs had up to "
        + MemorySize.ofMib(lacked.mib()).rounded()
        + " more of pinned and managed memory, which is copied more slowly (most at "
        + at
        + "); set region: "
        + enough()
        + " in its vgpu, then apply";
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", guest);
    tree.put("regionBytes", region.bytes());
    tree.put("lackedBytes", lacked.bytes());
    tree.put("at", at.toString());
    tree.put("enoughBytes", enough().bytes());
    return tree;
  }
}
