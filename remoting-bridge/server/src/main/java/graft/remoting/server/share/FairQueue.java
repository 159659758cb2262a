package graft.remoting.server.share;

import graft.common.grants.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Decides which guest uses the GPU next, so that the guests' shares of its time hold. Knows no
 * clock and no thread: it is told what was used, and who wants the GPU.
 *
 * <p>Each guest has a <em>lag</em>: the GPU time that it should have had and has not. While guests
 * want the GPU, each nanosecond that one of them uses is divided among the lags of all of them by
 * their weights, and taken off the lag of the one that used it. The guest with the largest lag for
 * its weight is next; this is stride scheduling (C. Waldspurger and W. Weihl, MIT/LCS/TM-528, 1995)
 * with the pass written as a difference, so that weights can change at any time. What a guest uses
 * beyond its turn makes its lag smaller by as much: the error does not grow with time, however long
 * kernels are.
 *
 * <ul>
 *   <li>A guest that does not want the GPU gains nothing. It keeps what it should have had before,
 *       but no more than {@link #MOST_CREDIT}.
 *   <li>A debt (a negative lag) is paid by not using the GPU while others use it, and by using it
 *       while nobody else wants it.
 *   <li>A guaranteed guest's weight is its percentage. Burstable guests divide what the guaranteed
 *       ones leave if the percentages exceed 100 together.
 *   <li>Best-effort guests have a ledger of their own, and are chosen only if no other guest wants
 *       the GPU.
 *   <li>A guest of high priority that has not overdrawn its share by more than a turn is first.
 * </ul>
 *
 * Not thread-safe.
 */
final class FairQueue {
  /** The longest turn while others want the GPU, in nanoseconds. */
  static final long TURN = 5_000_000;

  /** The most that a guest keeps for later of what it should have had, in nanoseconds. */
  static final long MOST_CREDIT = 20 * TURN;

  /** The least weight of a guest that is not best-effort, in percent of the GPU. */
  private static final double LEAST_WEIGHT = 0.5;

  private static final int WHOLE = 100;

  private final List<Guest> guests = new ArrayList<>();
  private long turns;

  /** A guest, whose sessions together have one share. */
  static final class Guest {
    private final String name;
    private Share share;
    private double lag;
    private boolean wants;
    private long lastTurn;

    private Guest(String name, Share share) {
      this.name = name;
      this.share = share;
    }

    String name() {
      return name;
    }

    Share share() {
      return share;
    }

    /** Returns the GPU time that the guest should have had and has not, in nanoseconds. */
    double lag() {
      return lag;
    }

    boolean wants() {
      return wants;
    }

    private boolean isBestEffort() {
      return share.type() == Share.Type.BEST_EFFORT;
    }

    private boolean isHigh() {
      return share.priority() == Share.Priority.HIGH && lag >= -TURN;
    }
  }

  /** Adds a guest, which has used nothing yet. */
  Guest add(String name, Share share) {
    Guest guest = new Guest(name, share);
    guests.add(guest);
    return guest;
  }

  /** Forgets a guest and its debt. */
  void remove(Guest guest) {
    guests.remove(guest);
  }

  /** Changes a guest's share; what it has used so far stays. */
  void change(Guest guest, Share share) {
    guest.share = share;
  }

  /**
   * Sets what a guest should have had and has not, in nanoseconds, as another queue has kept it.
   */
  void resume(Guest guest, double lag) {
    guest.lag = Math.min(lag, MOST_CREDIT);
  }

  /** Notes whether a guest wants the GPU, or has it. */
  void wants(Guest guest, boolean value) {
    guest.wants = value;
    if (!value) {
      guest.lag = Math.min(guest.lag, MOST_CREDIT);
    }
  }

  /** Notes that a guest has used the GPU, in nanoseconds. */
  void charge(Guest guest, long nanos) {
    List<Guest> rivals = new ArrayList<>();
    boolean isAlone = true;
    for (Guest each : guests) {
      if (each.isBestEffort() != guest.isBestEffort()) {
        continue;
      }
      if (each == guest || each.wants || each.lag < 0) {
        rivals.add(each);
        isAlone &= each == guest || !each.wants;
      }
    }
    double burst = burst(rivals);
    double all = 0;
    for (Guest each : rivals) {
      all += weight(each, burst);
    }
    for (Guest each : rivals) {
      double part = nanos * weight(each, burst) / all;
      if (each != guest) {
        each.lag = each.wants ? each.lag + part : Math.min(0, each.lag + part);
      } else if (!isAlone) {
        each.lag += part - nanos;
      } else if (each.lag < 0) {
        each.lag = Math.min(0, each.lag + nanos);
      }
    }
  }

  /** Notes that a guest's turn begins. */
  void begin(Guest guest) {
    guest.lastTurn = ++turns;
  }

  /** Returns the guest that is next among those that may have a turn, null if none may. */
  Guest next(Predicate<Guest> candidate) {
    List<Guest> rivals = new ArrayList<>(guests);
    rivals.removeIf(candidate.negate());
    if (!rivals.stream().allMatch(Guest::isBestEffort)) {
      rivals.removeIf(Guest::isBestEffort);
    }
    double burst = burst(rivals);
    Comparator<Guest> order =
        Comparator.comparing(Guest::isHigh)
            .thenComparingDouble(each -> each.lag / weight(each, burst))
            .thenComparing(each -> each.lastTurn, Comparator.reverseOrder());
    return rivals.stream().max(order).orElse(null);
  }

  /** Returns whether a guest that has begun to want the GPU ends the turn of another one. */
  boolean interrupts(Guest arrived, Guest holder) {
    return !arrived.isBestEffort()
        && (holder.isBestEffort() || (arrived.isHigh() && !holder.isHigh()));
  }

  /** Returns by what the percentages of burstable guests are multiplied. */
  private static double burst(List<Guest> rivals) {
    int guaranteed = 0;
    int burstable = 0;
    for (Guest each : rivals) {
      if (each.share.type() == Share.Type.GUARANTEED) {
        guaranteed += each.share.percent();
      } else {
        burstable += each.share.percent();
      }
    }
    return guaranteed + burstable <= WHOLE
        ? 1
        : Math.max(0, WHOLE - guaranteed) / (double) Math.max(1, burstable);
  }

  private static double weight(Guest guest, double burst) {
    return switch (guest.share.type()) {
      case GUARANTEED -> guest.share.percent();
      case BURSTABLE -> Math.max(LEAST_WEIGHT, guest.share.percent() * burst);
      case BEST_EFFORT, DENSE -> 1; // dense guests take no turns
    };
  }
}
