package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.common.grants.Grant;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The places for sessions, with a limit for all guests together and a limit for each guest. The
 * last quarter of the places is reserved for guests of the tokens file that have no session yet, so
 * that no guest locks out the others by the number of its sessions.
 *
 * <p>What happens to a connection for which there is no place depends on the server's queue
 * timeout:
 *
 * <ul>
 *   <li>Without one the connection is refused. Only a guest that has no place because of its own
 *       sessions waits a short time for one of them to end: a program that has just ended, and that
 *       its guest starts again, may hold its session until the device is released. As many
 *       connections of a guest may wait as it has sessions. If a wait was in vain, the guest's next
 *       connections do not wait, until a session of the guest has ended or some seconds have
 *       passed, so that a guest at its limit occupies nobody by waiting.
 *   <li>With one the connection waits for that time at most, in a {@link PlaceQueue}. As many
 *       connections may wait as there are places, {@link #LEAST_QUEUE} at least.
 * </ul>
 */
public final class SessionPlaces {
  private static final Logger LOG = LoggerFactory.getLogger(SessionPlaces.class);

  /**
   * A reserved place for a session that begins. Once served, the session is counted instead.
   *
   * @param grant what the session's guest may use, as it was when the place became free
   * @param release gives the place back
   */
  public record Place(Grant grant, Runnable release) implements AutoCloseable {
    @Override
    public void close() {
      release.run();
    }
  }

  /** The client that waits for a place. */
  interface Client {
    /** Is called once, before the client has to wait. */
    void waits();

    /**
     * Is called from time to time while the client waits. Takes no longer than a moment.
     *
     * @param why why the client has to wait, and how many wait that came before
     * @throws IOException if the client has gone away
     */
    void stillWaits(String why) throws IOException;
  }

  /** How long a connection waits for a session of its guest to end, without a queue timeout. */
  static final Duration ENDING_LIMIT = Duration.ofSeconds(3);

  /** How long after a wait in vain the connections of the same guest do not wait. */
  private static final Duration IN_VAIN_LIMIT = Duration.ofSeconds(10);

  /** How often the server looks whether a client that waits is still there. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** The least number of connections that may wait for the places of a small server. */
  private static final int LEAST_QUEUE = 16;

  private static final int KEPT_PART = 4;

  private final int most;
  private final int mostOfGuest;
  private final Duration queueTimeout;
  private final Grants grants;
  private final Supplier<List<ServedSession>> served;

  /** The guests whose sessions are about to begin. */
  @GuardedBy("this")
  private final List<String> entering = new ArrayList<>();

  @GuardedBy("this")
  private final PlaceQueue queue;

  /** When a connection of each guest last waited in vain, by {@link System#nanoTime}. */
  @GuardedBy("this")
  private final Map<String, Long> inVain = new HashMap<>();

  /**
   * The places of a server.
   *
   * @param most the most sessions at one time
   * @param mostOfGuest the most sessions of one guest
   * @param queueTimeout how long a connection may wait for a place; zero if it is refused at once
   * @param served the sessions that are served now
   */
  public SessionPlaces(
      int most,
      int mostOfGuest,
      Duration queueTimeout,
      Grants grants,
      Supplier<List<ServedSession>> served) {
    this.most = most;
    this.mostOfGuest = mostOfGuest;
    this.queueTimeout = queueTimeout;
    this.grants = grants;
    this.served = served;
    this.queue = new PlaceQueue(Math.max(LEAST_QUEUE, most));
  }

  /** Returns the guest of each connection that waits for a place, in the order of arrival. */
  public synchronized List<String> waiting() {
    return queue.guests();
  }

  /**
   * Reserves a place for a session of this guest. Waits for one if the connection may.
   *
   * @throws HandshakeException if there is no place for the guest, or it has lost its access while
   *     it waited
   * @throws ServerException when the grants cannot be read, or the server stops
   * @throws IOException if the client goes away while it waits
   */
  Place reserve(Grant guest, Client client) throws IOException, ServerException {
    PlaceQueue.Waiter waiter = arrive(guest);
    if (waiter.hasPlace()) {
      return place(guest);
    }
    client.waits();
    boolean isAllowed = false;
    try {
      await(waiter, client);
      Grant now = grants.of(guest.name());
      if (now == null || !now.fingerprint().equals(guest.fingerprint())) {
        throw new HandshakeException(
            HandshakeStatus.REFUSED, "the server does not know this name with this token any more");
      }
      isAllowed = true;
      return place(now);
    } finally {
      leave(waiter, isAllowed);
    }
  }

  private Place place(Grant guest) {
    return new Place(guest, () -> release(guest.name()));
  }

  /** Gives a connection a place if one is free and nobody waits for it, or lets it wait. */
  private synchronized PlaceQueue.Waiter arrive(Grant guest)
      throws HandshakeException, ServerException {
    PlaceQueue.Waiter waiter = queue.add(guest);
    boolean mayStay = false;
    try {
      assign();
      if (!waiter.hasPlace()) {
        checkMayWait(waiter);
      }
      mayStay = true;
      return waiter;
    } finally {
      if (!mayStay) {
        leave(waiter, false);
      }
    }
  }

  @GuardedBy("this")
  private void checkMayWait(PlaceQueue.Waiter waiter) throws HandshakeException, ServerException {
    String guest = waiter.guest();
    if (!queueTimeout.isZero()) {
      queue.makeRoom(waiter);
      notifyAll(); // of the one that lost its place in the queue
      return;
    }
    inVain.values().removeIf(at -> System.nanoTime() - at > IN_VAIN_LIMIT.toNanos());
    Occupancy occupancy = occupancy();
    if (inVain.containsKey(guest) || queue.count(guest) > occupancy.count(guest)) {
      throw busy(occupancy.obstacle(waiter.grant()));
    }
  }

  private static HandshakeException busy(Optional<String> obstacle) {
    return new HandshakeException(
        HandshakeStatus.BUSY, obstacle.orElse("the server is busy") + ": try later");
  }

  /** Waits until the connection has a place. */
  private void await(PlaceQueue.Waiter waiter, Client client) throws IOException, ServerException {
    Duration limit = queueTimeout.isZero() ? ENDING_LIMIT : queueTimeout;
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      String why;
      synchronized (this) {
        pause(waiter, Math.min(deadline - System.nanoTime(), LOOK.toNanos()));
        assign(); // the tokens file may have changed
        if (waiter.hasPlace()) {
          return;
        }
        Optional<String> obstacle = occupancy().obstacle(waiter.grant());
        if (waiter.isDecided() || deadline - System.nanoTime() <= 0) {
          if (queueTimeout.isZero()) {
            inVain.put(waiter.guest(), System.nanoTime());
          }
          throw waiter.isDecided() ? PlaceQueue.full() : busy(obstacle);
        }
        why = obstacle.orElse("the server is full") + ": " + queue.position(waiter);
      }
      client.stillWaits(why);
    }
  }

  /** Waits for so long, or until the connection need not wait any more. */
  @GuardedBy("this")
  private void pause(PlaceQueue.Waiter waiter, long nanos) throws ServerException {
    long end = System.nanoTime() + nanos;
    try {
      for (long left = nanos; !waiter.isDecided() && left > 0; left = end - System.nanoTime()) {
        wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("the server is stopping", e);
    }
  }

  /** Ends a wait; gives a place back that is not used. */
  private synchronized void leave(PlaceQueue.Waiter waiter, boolean usesPlace) {
    queue.remove(waiter);
    if (waiter.hasPlace() && !usesPlace) {
      release(waiter.guest());
    }
  }

  /** Notes that a session of this guest has ended, and no longer is among those that are served. */
  public synchronized void sessionEnded(String guest) {
    inVain.remove(guest);
    try {
      assign();
    } catch (ServerException e) {
      LOG.warn("no place is given to a client that waits: {}", e.getMessage());
    }
  }

  /** Gives the free places to those that wait. */
  @GuardedBy("this")
  private void assign() throws ServerException {
    while (assignOne()) {
      notifyAll();
    }
  }

  /**
   * Gives a free place to the connection that is next. Who is next after it depends on the sessions
   * that each guest has then.
   */
  @GuardedBy("this")
  private boolean assignOne() throws ServerException {
    if (queue.isEmpty()) {
      return false;
    }
    Occupancy occupancy = occupancy();
    for (PlaceQueue.Waiter next : queue.inOrder(occupancy::count)) {
      if (occupancy.obstacle(next.grant()).isEmpty()) {
        queue.admit(next);
        entering.add(next.guest());
        return true;
      }
    }
    return false;
  }

  @GuardedBy("this")
  private Occupancy occupancy() {
    List<String> holders = new ArrayList<>(entering);
    served.get().forEach(session -> holders.add(session.name()));
    return new Occupancy(holders);
  }

  /** Which places are taken: the guest of each session that is served or about to begin. */
  private final class Occupancy {
    private final List<String> holders;
    private Set<String> names;

    private Occupancy(List<String> holders) {
      this.holders = holders;
    }

    private long count(String guest) {
      return holders.stream().filter(guest::equals).count();
    }

    /** Returns why the guest has no place, or nothing if there is one. */
    private Optional<String> obstacle(Grant guest) throws ServerException {
      long own = count(guest.name());
      int limit = Math.min(mostOfGuest, guest.maxSessions().orElse(mostOfGuest));
      if (own >= limit) {
        return Optional.of(guest.name() + " has its " + limit + " sessions");
      }
      int free = most - holders.size();
      if (free <= 0) {
        return Optional.of("the server has its " + most + " sessions");
      }
      if (own > 0 && free <= most / KEPT_PART && free <= absent()) {
        return Optional.of(
            "the server keeps its last " + free + " places for guests that have no session yet");
      }
      return Optional.empty();
    }

    /** Returns how many guests have no session. */
    private int absent() throws ServerException {
      if (names == null) {
        names = grants.names(); // costs a read of the tokens file
      }
      Set<String> absent = new HashSet<>(names);
      holders.forEach(absent::remove);
      return absent.size();
    }
  }

  private synchronized void release(String guest) {
    entering.remove(guest);
    sessionEnded(guest); // a session that begins was counted twice for a moment
  }
}
