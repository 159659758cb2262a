package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.transport.Region;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The guests that had more pinned and managed memory than the regions that they share with the
 * server have room for. A guest is remembered until it comes with a region of another size, or the
 * server ends. The figures are what the guests' clients say: they are for operators to read, and
 * decide nothing. Thread-safe.
 */
public final class SmallRegions {
  /** The most guests that are remembered. */
  static final int MOST_GUESTS = 256;

  /** What each session that is served now has lacked at most, by guest and session. */
  @GuardedBy("this")
  private final Map<String, Map<Long, Long>> current = new HashMap<>();

  @GuardedBy("this")
  private final Map<String, SmallRegion> known = new TreeMap<>();

  /**
   * A region that was too small.
   *
   * @param region its size in bytes
   * @param lacked the sum of what the sessions at one time have lacked, each at its own worst
   *     moment: no less than what all of them have ever lacked at once
   * @param at when that sum was reached
   */
  public record SmallRegion(String guest, long region, long lacked, Instant at) {}

  /** Notes what a session's worker reports of its region. */
  synchronized void note(ServedSession session, ControlMessage.RegionUse use) {
    note(session, use, Instant.now());
  }

  synchronized void note(ServedSession session, ControlMessage.RegionUse use, Instant now) {
    String guest = session.name();
    Map<Long, Long> sessions = current.computeIfAbsent(guest, name -> new HashMap<>());
    sessions.put(session.id(), Math.min(use.lacked(), Region.MOST_LACKED));
    SmallRegion before = known.get(guest);
    if (before != null && before.region() != use.region()) {
      known.remove(guest);
      before = null;
    }
    long sum = sessions.values().stream().mapToLong(Long::longValue).sum();
    if (sum > (before == null ? 0 : before.lacked())
        && (before != null || known.size() < MOST_GUESTS)) {
      known.put(guest, new SmallRegion(guest, use.region(), sum, now));
    }
  }

  /** Is told that a session has ended. */
  synchronized void ended(ServedSession session) {
    Map<Long, Long> sessions = current.get(session.name());
    if (sessions != null) {
      sessions.remove(session.id());
      if (sessions.isEmpty()) {
        current.remove(session.name());
      }
    }
  }

  /** Returns the guests, by their names. */
  public synchronized List<SmallRegion> all() {
    return new ArrayList<>(known.values());
  }
}
