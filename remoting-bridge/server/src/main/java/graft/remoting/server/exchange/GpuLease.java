package graft.remoting.server.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.system.CpuContention;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * The worker's side of a {@link LeasePage}: lets the session's work begin while the session has the
 * lease, and measures for how long there is work on the device. Thread-safe.
 */
public final class GpuLease {
  /** How long to wait for the server's message before the page is read again. */
  private static final long LOOK_NANOS = 100_000_000;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /**
   * How long to poll the page before sleeping, because waking a thread takes up to 0.4 ms in a
   * virtual machine. On machines with few processors a thread sleeps at once.
   */
  private static final long POLL_NANOS =
      Runtime.getRuntime().availableProcessors() < 4 ? 0 : 1_000_000;

  private final long page;
  private final LongSupplier nanos;
  private final CpuContention contention = CpuContention.shared();

  /** The pieces of work that run. */
  @GuardedBy("this")
  private long running;

  /** The threads that wait. */
  @GuardedBy("this")
  private long waiting;

  @GuardedBy("this")
  private long since;

  @GuardedBy("this")
  private long used;

  /** What the work that runs counts for. */
  @GuardedBy("this")
  private GpuEngine engine = GpuEngine.COMPUTE;

  @GuardedBy("this")
  private long copiedTo;

  @GuardedBy("this")
  private long copiedFrom;

  @GuardedBy("this")
  private long waited;

  /** When the server said last that the lease is here, or comes soon. */
  @GuardedBy("this")
  private long alerted;

  private volatile Runnable ask = () -> {};
  private volatile GuestActivity activity = GuestActivity.none();

  private GpuLease(long page, LongSupplier nanos) {
    this.page = page;
    this.nanos = nanos;
  }

  /** Returns a lease that is held for ever, of a session that nobody measures. */
  public static GpuLease endless() {
    long page = Memory.allocate(LeasePage.BYTES);
    Memory.fill(page, LeasePage.BYTES, (byte) 0);
    Memory.putLongVolatile(page + LeasePage.LEASE, LeasePage.HELD);
    return new GpuLease(page, System::nanoTime);
  }

  /** Maps a page that the server has made. */
  public static GpuLease map(int fd) throws IOException {
    return map(fd, System::nanoTime);
  }

  /**
   * Maps a page that the server has made.
   *
   * @param nanos the clock that measures, for tests
   */
  public static GpuLease map(int fd, LongSupplier nanos) throws IOException {
    long page =
        Libc.mmap(0, LeasePage.BYTES, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    if (page == -1) {
      throw Libc.failure("map the memory of the session's lease");
    }
    return new GpuLease(page, nanos);
  }

  /** Sets what asks the server for the lease. */
  public void askBy(Runnable request) {
    ask = request;
  }

  /** Sets what is told when the session has work on the device. */
  public void tell(GuestActivity guest) {
    activity = guest;
  }

  /** Begins a piece of work; waits while the session has no lease. */
  public void begin() {
    if (tryBegin()) {
      return;
    }
    long began = System.nanoTime();
    addWaiting(1);
    ask.run();
    long counted = began;
    boolean interrupted = false;
    while (!tryBegin()) {
      if (pollsOn(began)) {
        Thread.onSpinWait();
      } else {
        interrupted |= sleep();
        counted = addWaited(counted); // a wait may be long, and is measured meanwhile
      }
    }
    addWaiting(-1);
    addWaited(counted);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean tryBegin() {
    // The number is written before the lease is read, and the server reads it after it has taken
    // the lease: either this work waits, or the server knows that it runs.
    put(LeasePage.RUNNING, running + 1);
    if (!isHeld()) {
      put(LeasePage.RUNNING, running);
      return false;
    }
    running++;
    if (running == 1) {
      since = nanos.getAsLong();
      engine = GpuEngine.COMPUTE;
      activity.began(since);
    }
    return true;
  }

  /**
   * Polls for a while, unless other threads want the CPU. Returns false when it is time to sleep.
   */
  private boolean pollsOn(long began) {
    long from;
    synchronized (this) {
      from = Math.max(began, alerted);
    }
    long now = System.nanoTime();
    boolean polls = POLL_NANOS > 0 && !contention.isSeen(now);
    while (polls && now - from <= POLL_NANOS && !isHeld()) {
      Thread.onSpinWait();
      long last = now;
      now = System.nanoTime();
      polls = !contention.polled(last, now);
    }
    return isHeld();
  }

  /** Sleeps until the server says something. Returns whether the thread was interrupted. */
  private synchronized boolean sleep() {
    long before = alerted;
    long limit = System.nanoTime() + LOOK_NANOS;
    try {
      while (!isHeld() && alerted == before && System.nanoTime() < limit) {
        wait(LOOK_NANOS / NANOS_PER_MILLI);
      }
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  private synchronized void addWaiting(int number) {
    waiting += number;
    put(LeasePage.WAITING, waiting);
  }

  /** Adds the time from the given one until now, and returns now. */
  private synchronized long addWaited(long from) {
    long now = System.nanoTime();
    waited += now - from;
    put(LeasePage.WAITED, waited);
    return now;
  }

  /** Counts the work that runs until now; otherwise work is counted when all of it has ended. */
  public synchronized void measure() {
    if (running > 0) {
      count(nanos.getAsLong());
    }
  }

  /**
   * Counts the work that runs for an engine; a piece of work begins as {@link GpuEngine#COMPUTE}.
   *
   * @param from the time from which on it counts so, by the lease's clock
   */
  public synchronized void count(GpuEngine its, long from) {
    if (running > 0) {
      count(from);
      engine = its;
    }
  }

  /** Counts the work that runs until then. */
  @GuardedBy("this")
  private void count(long until) {
    long time = Math.max(0, until - since); // until is before since if it was measured in between
    since += time;
    used += time;
    put(LeasePage.USED, used); // before its parts, which are never more
    if (engine == GpuEngine.COPY_TO_DEVICE) {
      copiedTo += time;
      put(LeasePage.COPIED_TO_DEVICE, copiedTo);
    } else if (engine == GpuEngine.COPY_FROM_DEVICE) {
      copiedFrom += time;
      put(LeasePage.COPIED_FROM_DEVICE, copiedFrom);
    }
  }

  /** Ends a piece of work. */
  public void end() {
    end(nanos.getAsLong());
  }

  /**
   * Ends a piece of work.
   *
   * @param at when it ended, by the lease's clock
   */
  public synchronized void end(long at) {
    running--;
    if (running == 0) {
      count(at);
      activity.ended(at);
    }
    put(LeasePage.RUNNING, running);
    if (running == 0 && waiting > 0) {
      ask.run(); // the next turn can begin
    }
  }

  /** Looks at the page again: the server has given the lease, or gives it soon. */
  public synchronized void granted() {
    alerted = System.nanoTime();
    notifyAll();
  }

  /** Returns whether work may begin now. */
  public boolean isHeld() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) != LeasePage.NONE;
  }

  /** Returns whether any amount of work may be queued now. */
  public boolean isUnbounded() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) == LeasePage.HELD;
  }

  /** Returns whether other guests use the device too, so that little work should be queued. */
  public boolean isBounded() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) >= LeasePage.BOUNDED;
  }

  /** Returns whether a guest may come that does not wait, so that little should be queued. */
  public boolean isShort() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) == LeasePage.SHORT;
  }

  private void put(int offset, long value) {
    Memory.putLongVolatile(page + offset, value);
  }
}
