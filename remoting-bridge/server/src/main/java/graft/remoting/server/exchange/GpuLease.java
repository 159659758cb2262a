package graft.remoting.server.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import java.io.IOException;

/**
 * The worker's side of a {@link LeasePage}: lets the session's work begin while the session has the
 * lease, and measures for how long there is work on the device. Thread-safe.
 */
public final class GpuLease {
  /** How long to wait for the server's message before the page is read again. */
  private static final long LOOK_MILLIS = 100;

  private final long page;

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

  @GuardedBy("this")
  private long waited;

  @GuardedBy("this")
  private Runnable ask = () -> {};

  private GpuLease(long page) {
    this.page = page;
  }

  /** Returns a lease that never ends, of a session that nobody measures. */
  public static GpuLease endless() {
    return new GpuLease(0);
  }

  /** Maps a page that the server has made. */
  public static GpuLease map(int fd) throws IOException {
    long page =
        Libc.mmap(0, LeasePage.BYTES, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    if (page == -1) {
      throw Libc.failure("map the memory of the session's lease");
    }
    return new GpuLease(page);
  }

  /** Sets what asks the server for the lease. */
  public synchronized void askBy(Runnable request) {
    ask = request;
  }

  /** Begins a piece of work; waits while the session has no lease. */
  public synchronized void begin() {
    if (page == 0) {
      return;
    }
    // The number is written before the lease is read, and the server reads it after it has taken
    // the lease: either this work waits, or the server knows that it runs.
    put(LeasePage.RUNNING, running + 1);
    if (!isHeld()) {
      put(LeasePage.RUNNING, running);
      awaitLease();
    }
    running++;
    if (running == 1) {
      since = System.nanoTime();
    }
  }

  @GuardedBy("this")
  private void awaitLease() {
    long began = System.nanoTime();
    waiting++;
    put(LeasePage.WAITING, waiting);
    ask.run();
    boolean interrupted = false;
    while (true) {
      put(LeasePage.RUNNING, running + 1);
      if (isHeld()) {
        break;
      }
      put(LeasePage.RUNNING, running);
      try {
        wait(LOOK_MILLIS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    waiting--;
    put(LeasePage.WAITING, waiting);
    waited += System.nanoTime() - began;
    put(LeasePage.WAITED, waited);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends a piece of work. */
  public synchronized void end() {
    if (page == 0) {
      return;
    }
    running--;
    if (running == 0) {
      used += System.nanoTime() - since;
      put(LeasePage.USED, used);
    }
    put(LeasePage.RUNNING, running);
    if (running == 0 && waiting > 0) {
      ask.run(); // the next turn can begin
    }
  }

  /** Looks at the page again: the server has given the lease. */
  public synchronized void granted() {
    notifyAll();
  }

  /** Returns whether the lease never ends, so that nobody measures the session. */
  public boolean isEndless() {
    return page == 0;
  }

  /** Returns whether work may begin now. */
  public boolean isHeld() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) != LeasePage.NONE;
  }

  /** Returns whether other guests use the device too, so that little work should be queued. */
  public boolean isBounded() {
    return Memory.getLongVolatile(page + LeasePage.LEASE) == LeasePage.BOUNDED;
  }

  private void put(int offset, long value) {
    Memory.putLongVolatile(page + offset, value);
  }
}
