package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.common.grants.Grant;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.ServerException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The places for sessions, with a limit for all guests together and a limit for each guest. The
 * last quarter of the places is reserved for guests of the tokens file that have no session yet, so
 * that no guest locks out the others by the number of its sessions.
 *
 * <p>A guest that has no place because of its own sessions waits a short time for one of them to
 * end: a program that has just ended, and that its guest starts again, may hold its session until
 * the device is released. As many connections of a guest may wait as it has sessions. If a wait was
 * in vain, the guest's next connections do not wait, until a session of the guest has ended or some
 * seconds have passed, so that a guest at its limit occupies nobody by waiting.
 */
public final class SessionPlaces {
  /** A reserved place for a session that begins. Once served, the session is counted instead. */
  public interface Place extends AutoCloseable {
    @Override
    void close();
  }

  /** The place of a connection that begins no session, which needs none. */
  static final Place NONE = () -> {};

  /** How long a connection waits for a session of its guest to end. */
  static final Duration ENDING_LIMIT = Duration.ofSeconds(3);

  /** How long after a wait in vain the connections of the same guest do not wait. */
  private static final Duration IN_VAIN_LIMIT = Duration.ofSeconds(10);

  private static final int KEPT_PART = 4;

  private final int most;
  private final int mostOfGuest;
  private final Grants grants;
  private final Supplier<List<ServedSession>> served;

  /** The guests whose sessions are about to begin. */
  @GuardedBy("this")
  private final List<String> entering = new ArrayList<>();

  /** The guests whose connections wait for a session to end. */
  @GuardedBy("this")
  private final List<String> waiting = new ArrayList<>();

  /** When a connection of each guest last waited in vain, by {@link System#nanoTime}. */
  @GuardedBy("this")
  private final Map<String, Long> inVain = new HashMap<>();

  /** How often a place may have become free. */
  @GuardedBy("this")
  private long changes;

  /**
   * The places of a server.
   *
   * @param most the most sessions at one time
   * @param mostOfGuest the most sessions of one guest
   * @param served the sessions that are served now
   */
  public SessionPlaces(
      int most, int mostOfGuest, Grants grants, Supplier<List<ServedSession>> served) {
    this.most = most;
    this.mostOfGuest = mostOfGuest;
    this.grants = grants;
    this.served = served;
  }

  /**
   * Reserves a place for a session of this guest. If its own sessions have the places, waits up to
   * {@link #ENDING_LIMIT} for one of them to end.
   *
   * @param waits is called before the wait
   * @throws HandshakeException if there is no place for the guest
   * @throws ServerException when the grants cannot be read, or the server stops
   */
  synchronized Place reserve(Grant guest, Runnable waits)
      throws HandshakeException, ServerException {
    String name = guest.name();
    Optional<String> obstacle = obstacle(guest);
    if (obstacle.isPresent() && mayWait(name)) {
      waits.run();
      waiting.add(name);
      try {
        obstacle = awaitEnd(guest, obstacle);
      } finally {
        waiting.remove(name);
      }
      if (obstacle.isPresent()) {
        inVain.put(name, System.nanoTime());
      }
    }
    if (obstacle.isPresent()) {
      throw new HandshakeException(HandshakeStatus.BUSY, obstacle.get() + ": try later");
    }
    entering.add(name);
    return () -> release(name);
  }

  @GuardedBy("this")
  private boolean mayWait(String guest) {
    inVain.values().removeIf(at -> System.nanoTime() - at > IN_VAIN_LIMIT.toNanos());
    return !inVain.containsKey(guest) && count(waiting, guest) < count(holders(), guest);
  }

  /** Returns why there is still no place after a wait. */
  @GuardedBy("this")
  private Optional<String> awaitEnd(Grant guest, Optional<String> before) throws ServerException {
    Optional<String> obstacle = before;
    long deadline = System.nanoTime() + ENDING_LIMIT.toNanos();
    while (obstacle.isPresent()) {
      long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (millis <= 0) {
        return obstacle;
      }
      long changesBefore = changes;
      try {
        wait(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ServerException("the server is stopping", e);
      }
      // To look again may cost a read of the tokens file.
      obstacle = changes == changesBefore ? obstacle : obstacle(guest);
    }
    return obstacle;
  }

  /** Notes that a session of this guest has ended, and no longer is among those that are served. */
  public synchronized void sessionEnded(String guest) {
    inVain.remove(guest);
    changes++;
    notifyAll();
  }

  /** Returns why there is no place for one more session of a guest. */
  @GuardedBy("this")
  private Optional<String> obstacle(Grant guest) throws ServerException {
    List<String> holders = holders();
    long own = count(holders, guest.name());
    int limit = Math.min(mostOfGuest, guest.maxSessions().orElse(mostOfGuest));
    if (own >= limit) {
      return Optional.of(guest.name() + " has its " + limit + " sessions");
    }
    int free = most - holders.size();
    if (free <= 0) {
      return Optional.of("the server has its " + most + " sessions");
    }
    if (own > 0 && free <= most / KEPT_PART && free <= absent(holders)) {
      return Optional.of(
          "the server keeps its last " + free + " places for guests that have no session yet");
    }
    return Optional.empty();
  }

  /** Returns the guest of each session that is served or about to begin. */
  @GuardedBy("this")
  private List<String> holders() {
    List<String> holders = new ArrayList<>(entering);
    served.get().forEach(session -> holders.add(session.name()));
    return holders;
  }

  private static long count(List<String> guests, String guest) {
    return guests.stream().filter(guest::equals).count();
  }

  private int absent(List<String> holders) throws ServerException {
    Set<String> absent = new HashSet<>(grants.names());
    holders.forEach(absent::remove);
    return absent.size();
  }

  private synchronized void release(String guest) {
    entering.remove(guest);
    sessionEnded(guest); // a session that begins was counted twice for a moment
  }
}
