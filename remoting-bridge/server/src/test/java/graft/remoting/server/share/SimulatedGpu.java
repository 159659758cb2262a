package graft.remoting.server.share;

import graft.common.grants.Share;
import graft.remoting.server.exchange.LeasePage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

/**
 * A GPU, its arbiter and the sessions that use it, on a clock that jumps from event to event. A
 * session submits a kernel when it has its lease, waits for the kernel, and thinks before the next
 * one. A message between a session and the arbiter takes {@link #MESSAGE}.
 */
final class SimulatedGpu {
  static final long MICRO = 1_000;
  static final long MILLI = 1_000_000;
  private static final long MESSAGE = 50 * MICRO;

  private final DeviceArbiter arbiter = new DeviceArbiter();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Map<String, List<Session>> guests = new LinkedHashMap<>();
  private long now;
  private long number;
  private long nextTick = DeviceArbiter.NEVER;
  private final long watchdog;

  private record Event(long time, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int order = Long.compare(time, other.time);
      return order != 0 ? order : Long.compare(number, other.number);
    }
  }

  /** Starts taking turns, without a watchdog. */
  SimulatedGpu() {
    this(0);
  }

  /**
   * Starts taking turns.
   *
   * @param watchdog after which overrun a session is ended, in nanoseconds; 0 for never
   */
  SimulatedGpu(long watchdog) {
    this.watchdog = watchdog;
    arbiter.activate(true);
  }

  /** A session: kernels of given lengths, with pauses between them. */
  final class Session implements Lease {
    private final LongSupplier kernel;
    private final LongSupplier pause;
    private boolean mayRun;
    private boolean isBusy;
    private boolean isWaiting;
    private long asked;
    private long began;
    private long used;
    private long longestWait;
    private long endedAt;
    private String guest = "";
    private final Watchdog itsWatchdog = new Watchdog(watchdog, () -> at(MILLI, this::end));
    private final List<Long> latencies = new ArrayList<>();

    private Session(LongSupplier kernel, LongSupplier pause) {
      this.kernel = kernel;
      this.pause = pause;
    }

    /** Ends as a session does whose worker is killed. */
    private void end() {
      used = used();
      endedAt = now;
      isBusy = false;
      isWaiting = false;
      arbiter.remove(guest, this);
      tick();
    }

    /** Returns when the watchdog has ended the session, 0 if it has not. */
    long endedAt() {
      return endedAt;
    }

    private void submit() {
      if (endedAt != 0) {
        return;
      }
      asked = now;
      if (mayRun) {
        run();
      } else {
        isWaiting = true;
        at(MESSAGE, () -> tick());
      }
    }

    private void run() {
      isWaiting = false;
      isBusy = true;
      began = now;
      longestWait = Math.max(longestWait, now - asked);
      at(kernel.getAsLong(), this::done);
    }

    private void done() {
      if (endedAt != 0) {
        return;
      }
      isBusy = false;
      used += now - began;
      long thinks = pause.getAsLong();
      if (thinks == 0) {
        submit();
      } else {
        latencies.add(now - asked);
        at(thinks, this::submit);
      }
    }

    @Override
    public void grant(LeasePage.Queueing queueing) {
      mayRun = true;
      at(
          MESSAGE,
          () -> {
            if (isWaiting && mayRun) {
              run();
            }
          });
    }

    @Override
    public void announce() {}

    @Override
    public void revoke() {
      mayRun = false;
    }

    @Override
    public boolean isBusy() {
      return isBusy;
    }

    @Override
    public boolean isWaiting() {
      return isWaiting;
    }

    @Override
    public Watchdog watchdog() {
      return itsWatchdog;
    }

    long used() {
      return used + (isBusy ? now - began : 0);
    }

    long longestWait() {
      return Math.max(longestWait, isWaiting ? now - asked : 0);
    }

    /** Returns the time from a request to its result that 99 of 100 requests do not exceed. */
    long latency99() {
      List<Long> sorted = latencies.stream().sorted().toList();
      return sorted.get(sorted.size() * 99 / 100);
    }
  }

  private void at(long delay, Runnable action) {
    events.add(new Event(now + delay, number++, action));
  }

  private void tick() {
    long pause = arbiter.tick(now);
    // More often would only make the simulation slower: sessions that ask send a message.
    nextTick =
        pause == DeviceArbiter.NEVER ? DeviceArbiter.NEVER : now + Math.max(pause, 25 * MICRO);
  }

  /** Adds a session that is never without work. */
  Session busy(String guest, Share share, long kernel) {
    return session(guest, share, () -> kernel, () -> 0);
  }

  /** Adds a session. */
  Session session(String guest, Share share, LongSupplier kernel, LongSupplier pause) {
    Session session = new Session(kernel, pause);
    session.guest = guest;
    guests.computeIfAbsent(guest, name -> new ArrayList<>()).add(session);
    arbiter.add(guest, share, session);
    at(0, session::submit);
    return session;
  }

  /** Adds a session that a test plays itself. */
  void add(String guest, Share share, Lease lease) {
    arbiter.add(guest, share, lease);
  }

  /** Changes the shares. */
  void change(Map<String, Share> shares) {
    arbiter.change(shares);
  }

  /** Stops taking turns, or starts again. */
  void activate(boolean value) {
    arbiter.activate(value);
    tick();
  }

  /** Lets time pass. */
  void run(long nanos) {
    long end = now + nanos;
    while (true) {
      long event = events.isEmpty() ? Long.MAX_VALUE : events.peek().time;
      long time = Math.min(event, nextTick);
      if (time > end) {
        now = end;
        return;
      }
      now = time;
      if (nextTick <= event) {
        tick();
      } else {
        events.remove().action.run();
      }
    }
  }

  /** Returns the GPU time of a guest's sessions, in nanoseconds. */
  long used(String guest) {
    return guests.get(guest).stream().mapToLong(Session::used).sum();
  }

  /** Returns the part of the used GPU time that a guest had, in percent. */
  double percent(String guest) {
    long all = guests.keySet().stream().mapToLong(this::used).sum();
    return 100.0 * used(guest) / all;
  }

  /** Returns the GPU time that was used, divided by the time that has passed. */
  double load() {
    return guests.keySet().stream().mapToLong(this::used).sum() / (double) now;
  }

  /** Returns Jain's index of the guests' GPU times: 1 if all had the same. */
  double jain() {
    double sum = 0;
    double squares = 0;
    for (String guest : guests.keySet()) {
      double used = used(guest);
      sum += used;
      squares += used * used;
    }
    return sum * sum / (guests.size() * squares);
  }
}
