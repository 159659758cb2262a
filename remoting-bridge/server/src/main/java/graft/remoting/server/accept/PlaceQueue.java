package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.remoting.server.protocol.HandshakeStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The connections that wait for a place. The next place is for the guest with the fewest sessions;
 * of several guests with as many, for the one whose connection has waited longest. A guest
 * therefore gains nothing by having many connections wait.
 *
 * <p>The queue has a largest length, since each connection in it costs a thread. In a full queue a
 * connection of a guest with few of them takes the place of the last connection of the guest with
 * most. Not thread-safe.
 */
final class PlaceQueue {
  private final int most;

  /** The connections in the order of arrival. */
  private final List<Waiter> waiters = new ArrayList<>();

  /** A connection that waits. */
  static final class Waiter {
    private final Grant grant;
    private boolean hasPlace;
    private boolean isDecided;

    private Waiter(Grant grant) {
      this.grant = grant;
    }

    String guest() {
      return grant.name();
    }

    Grant grant() {
      return grant;
    }

    /** Whether the connection has got a place. */
    boolean hasPlace() {
      return hasPlace;
    }

    /** Whether the connection waits no more: it has a place, or another one needed the queue's. */
    boolean isDecided() {
      return isDecided;
    }
  }

  /** A queue for so many connections. */
  PlaceQueue(int most) {
    this.most = most;
  }

  boolean isEmpty() {
    return waiters.isEmpty();
  }

  Waiter add(Grant guest) {
    Waiter waiter = new Waiter(guest);
    waiters.add(waiter);
    return waiter;
  }

  void remove(Waiter waiter) {
    waiters.remove(waiter);
  }

  /** Returns the guests of the connections in the order of arrival. */
  List<String> guests() {
    return waiters.stream().map(Waiter::guest).toList();
  }

  /** Returns how many connections of a guest wait. */
  long count(String guest) {
    return waiters.stream().filter(waiter -> waiter.guest().equals(guest)).count();
  }

  /** Says that a connection waits, and after how many others it came. */
  String position(Waiter waiter) {
    int before = waiters.indexOf(waiter);
    return switch (before) {
      case -1, 0 -> "waiting for a place";
      case 1 -> "waiting for a place, after another client";
      default -> "waiting for a place, after " + before + " others";
    };
  }

  /**
   * Returns the first connection of each guest, in the order in which they get places.
   *
   * @param sessions returns how many sessions a guest has
   */
  List<Waiter> inOrder(ToLongFunction<String> sessions) {
    Set<String> seen = new HashSet<>();
    List<Waiter> firsts = new ArrayList<>(waiters);
    firsts.removeIf(waiter -> !seen.add(waiter.guest()));
    firsts.sort(Comparator.comparingLong(waiter -> sessions.applyAsLong(waiter.guest())));
    return firsts;
  }

  /** Gives a connection its place. */
  void admit(Waiter waiter) {
    waiters.remove(waiter);
    waiter.hasPlace = true;
    waiter.isDecided = true;
  }

  /**
   * Keeps the queue at its largest length.
   *
   * @param added the last connection that was added
   * @throws HandshakeException if there is no room for it
   */
  void makeRoom(Waiter added) throws HandshakeException {
    if (waiters.size() <= most) {
      return;
    }
    long largest = waiters.stream().mapToLong(waiter -> count(waiter.guest())).max().orElse(0);
    if (largest <= count(added.guest())) {
      throw full();
    }
    Waiter last = added;
    for (Waiter waiter : waiters) {
      last = count(waiter.guest()) == largest ? waiter : last;
    }
    waiters.remove(last);
    last.isDecided = true;
  }

  /** The refusal of a connection that is not to wait. */
  static HandshakeException full() {
    return new HandshakeException(
        HandshakeStatus.BUSY, "the server is full, and so is its queue: try later");
  }
}
