package graft.remoting.server.share;

import graft.common.grants.Share;
import graft.remoting.server.exchange.LeasePage.Queueing;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjDoubleConsumer;

/**
 * Gives the sessions of one GPU their turns. A guest has a turn with all its sessions at once, so
 * that the number of sessions does not matter, and that kernels of the guest which wait for each
 * other run together. A guest that is alone keeps the GPU for as long as nobody else wants it.
 *
 * <p>A turn ends after {@link FairQueue#TURN} if another guest is next then, or earlier if the
 * guest has no work for {@link #IDLE}, or if a guest comes that need not wait. The next turn begins
 * when the work of the last one is done, but no later than {@link #DRAIN} after its end: a kernel
 * may run for long, or wait for one of another guest. Work that then still runs is an overrun. A
 * guest is charged by this object's clock for the time from the beginning of its turn until its
 * work is done, overruns included, whatever its workers say.
 *
 * <p>A session whose overrun lasts too long while other guests want the GPU is named to its {@link
 * Watchdog}.
 *
 * <p>{@link #tick} does everything. Not thread-safe.
 */
final class DeviceArbiter {
  /** How often the sessions are looked at while more than one guest wants the GPU. */
  static final long SAMPLE = 250_000;

  /**
   * How often the sessions are looked at while a turn ends, or while a guest may come that does not
   * wait.
   */
  static final long QUICK_SAMPLE = 10_000;

  /** How long a guest may have no work before its turn ends. */
  static final long IDLE = SAMPLE;

  /** How long a guest may take for the begin of its turn until it is charged. */
  static final long START = 200_000;

  /** How long the next turn waits for the work of the last one. */
  static final long DRAIN = 2 * FairQueue.TURN;

  /**
   * How long a guest whose work overruns waits for a turn at most, whatever it owes: the work may
   * wait for other work of the same guest.
   */
  static final long OVERDUE = 200 * FairQueue.TURN;

  /**
   * For how long a guest counts as one that may come back soon. While there is one, the guest that
   * has the turn is told to keep what it queues short.
   */
  static final long RECENT = 1_000_000_000;

  /** A wait without end: the next event is a call. */
  static final long NEVER = Long.MAX_VALUE;

  private final FairQueue queue = new FairQueue();
  private final Map<String, Member> members = new LinkedHashMap<>();

  /** The members, for the loops of {@link #tick}, which leave no garbage. */
  private Member[] all = {};

  private Member holder;
  private boolean isActive;
  private long turnEnd;
  private boolean isEnding;

  /**
   * Whether work of the current turn has begun. The time until then is nobody's: a guest that has
   * many short turns would pay for waking up more often than one that has few long ones.
   */
  private boolean hasBegun;

  private long granted;

  /** How much work the sessions of the current turn may queue. */
  private Queueing queueing = Queueing.ANY;

  /** Whether the turn ended although its guest had more work. */
  private boolean isCut;

  private long drainEnd;
  private long lastWork;
  private long now;

  /** Adds a session of a guest. */
  void add(String name, Share share, Lease lease) {
    Member member = members.get(name);
    if (member == null) {
      member = new Member(queue.add(name, share));
      members.put(name, member);
      all = members.values().toArray(Member[]::new);
    }
    member.leases.add(lease);
    if (!isActive || (member == holder && !isEnding)) {
      lease.grant(isActive ? queueing : Queueing.ANY);
    } else {
      // A session that had another arbiter may hold a lease, and have work.
      lease.revoke();
      member.overruns |= lease.isBusy();
    }
  }

  /**
   * Takes over the account of a guest that has a session.
   *
   * @param lag the GPU time that the guest should have had and has not, in nanoseconds
   */
  void resume(String name, double lag) {
    Member member = members.get(name);
    if (member != null) {
      queue.resume(member.guest, lag);
    }
  }

  /** Tells the accounts of all guests. */
  void accounts(ObjDoubleConsumer<String> account) {
    members.forEach((name, member) -> account.accept(name, member.guest.lag()));
  }

  /** Returns the guaranteed shares of the guests that have sessions, in percent. */
  Map<String, Integer> guaranteed() {
    Map<String, Integer> found = new TreeMap<>();
    for (Member member : all) {
      Share share = member.guest.share();
      if (!member.leases.isEmpty() && share.type() == Share.Type.GUARANTEED) {
        found.put(member.guest.name(), share.percent());
      }
    }
    return found;
  }

  /**
   * Gives the leases again that sessions should have, in case that the earlier arbiter of these
   * sessions, which was stopped for a while, has taken them.
   */
  void grantAgain() {
    for (Member member : all) {
      if (!isActive || (member == holder && !isEnding)) {
        member.leases.forEach(lease -> lease.grant(isActive ? queueing : Queueing.ANY));
      }
    }
  }

  /** Removes a session that has ended. The guest's debt stays. */
  void remove(String name, Lease lease) {
    Member member = members.get(name);
    if (member != null) {
      member.leases.remove(lease);
      forget();
    }
  }

  /** Changes the shares of guests. A guest that is not named has the share that all others have. */
  void change(Map<String, Share> shares) {
    for (Member member : members.values()) {
      queue.change(member.guest, shares.getOrDefault(member.guest.name(), Share.DEFAULT));
    }
    forget();
  }

  /** Forgets the guests without sessions that owe nothing. */
  private void forget() {
    List<Member> gone =
        members.values().stream()
            .filter(m -> m.leases.isEmpty() && m != holder && m.guest.lag() >= 0)
            .toList();
    for (Member member : gone) {
      members.remove(member.guest.name());
      queue.remove(member.guest);
    }
    all = members.values().toArray(Member[]::new);
  }

  /** Begins or ends taking turns; without turns every session has its lease. */
  void activate(boolean value) {
    if (isActive == value) {
      return;
    }
    isActive = value;
    holder = null;
    isEnding = false;
    for (Member member : members.values()) {
      member.overruns = value;
      member.leases.forEach(value ? Lease::revoke : lease -> lease.grant(Queueing.ANY));
      member.leases.forEach(lease -> lease.watchdog().rests());
      queue.wants(member.guest, false); // what is known of the time before is old
    }
  }

  /**
   * Looks at all sessions, and gives and takes leases.
   *
   * @param time in nanoseconds, never earlier than before
   * @return after how many nanoseconds to call again, unless a session asks for its lease before
   */
  long tick(long time) {
    long passed = time - now;
    now = time;
    if (!isActive) {
      return NEVER;
    }
    boolean wasContended = isContended();
    for (Member member : all) {
      if (member.overruns || (member == holder && wasContended && hasBegun)) {
        queue.charge(member.guest, passed);
      }
    }
    watch(passed);
    for (Member member : all) {
      look(member);
    }
    if (holder != null && !hasBegun && (holder.isBusy() || now - granted > START)) {
      hasBegun = true;
      turnEnd = now + FairQueue.TURN;
    }
    if (holder != null && !isEnding && isContended()) {
      hold(wasContended);
    }
    if (isEnding && (!holder.isBusy() || now >= drainEnd)) {
      holder.overruns = holder.isBusy();
      holder.lastHeld = now;
      holder.wantsUntil = isCut ? now + IDLE : 0;
      holder = null;
    }
    if (holder == null) {
      begin();
    }
    bound();
    if (holder != null && (isEnding || !hasBegun || queueing == Queueing.LEAST)) {
      return QUICK_SAMPLE;
    }
    if (isContended() || overruns()) {
      return SAMPLE;
    }
    return holder == null || queueing == Queueing.ANY ? NEVER : RECENT;
  }

  /** Counts overruns, by what {@link #look} found the last time. */
  private void watch(long passed) {
    int wanting = 0;
    for (Member member : all) {
      wanting += member.guest.wants() ? 1 : 0;
    }
    for (Member member : all) {
      boolean isWanted = wanting > (member.guest.wants() ? 1 : 0);
      member.watch(isWanted ? passed : 0, member == holder && !isEnding);
    }
  }

  private boolean overruns() {
    for (Member member : all) {
      if (member.overruns) {
        return true;
      }
    }
    return false;
  }

  /** Tells the sessions of the turn how much they may queue. */
  private void bound() {
    if (holder != null && !isEnding && queueing != queueing(holder)) {
      queueing = queueing(holder);
      holder.leases.forEach(lease -> lease.grant(queueing));
    }
  }

  /** Returns how much a guest may queue, considering the guests that may want the GPU soon. */
  private Queueing queueing(Member member) {
    Queueing most = Queueing.ANY;
    for (Member other : all) {
      if (other != member && now - other.lastWanted < RECENT) {
        if (queue.interrupts(other.guest, member.guest)) {
          return Queueing.LEAST;
        }
        most = Queueing.LITTLE;
      }
    }
    return most;
  }

  private void look(Member member) {
    boolean asks = member.asks();
    member.isWaiting = asks;
    member.overruns &= member.isBusy();
    queue.wants(
        member.guest, asks || member == holder || member.overruns || now < member.wantsUntil);
    member.lastWanted = member.guest.wants() ? now : member.lastWanted;
    if (asks && holder != null && queue.interrupts(member.guest, holder.guest)) {
      end();
    }
  }

  private boolean isContended() {
    for (Member member : all) {
      if (member != holder && member.guest.wants()) {
        return true;
      }
    }
    return false;
  }

  /** Decides whether the current turn goes on. */
  private void hold(boolean wasContended) {
    // A session that waits has not noticed yet that it has the lease.
    boolean isBusy = holder.isBusy() || holder.isWaiting;
    if (!wasContended) {
      turnEnd = now; // the guest was alone until now
      lastWork = now - IDLE;
    }
    if (isBusy) {
      lastWork = now;
    }
    if (now - lastWork >= IDLE) {
      end();
    } else if (now >= turnEnd) {
      if (next(true) == holder) {
        turnEnd = now + FairQueue.TURN;
        queue.begin(holder.guest);
      } else {
        end();
        isCut = true;
      }
    }
  }

  private void end() {
    if (!isEnding) {
      isEnding = true;
      isCut = false;
      drainEnd = now + DRAIN;
      holder.leases.forEach(Lease::revoke);
      Member next = next(false);
      if (next != null && next != holder) {
        next.leases.forEach(Lease::announce);
      }
    }
  }

  /** Begins the turn of the guest that is next among those that wait. */
  private void begin() {
    isEnding = false;
    Member next = next(false);
    if (next == null) {
      return;
    }
    holder = next;
    holder.overruns = false;
    hasBegun = false;
    granted = now;
    turnEnd = Long.MAX_VALUE;
    lastWork = now;
    queue.begin(next.guest);
    queueing = queueing(next);
    holder.leases.forEach(lease -> lease.grant(queueing));
  }

  /** Returns who is next among the guests that wait, null if none does. */
  private Member next(boolean orTheHolder) {
    for (Member member : members.values()) {
      if (member.overruns && member.isWaiting && now - member.lastHeld > OVERDUE) {
        return member;
      }
    }
    FairQueue.Guest next =
        queue.next(
            guest -> {
              Member member = members.get(guest.name());
              return member.isWaiting || (orTheHolder && member == holder);
            });
    return next == null ? null : members.get(next.name());
  }
}
