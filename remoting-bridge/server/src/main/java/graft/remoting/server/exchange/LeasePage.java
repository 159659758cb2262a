package graft.remoting.server.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.system.SealedMemory;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * The server's side of the memory that it shares with one worker, by which the session gets and
 * loses the right to use its GPU ({@link GpuLease} is the worker's side). The memory is one page of
 * words of 8 bytes:
 *
 * <table>
 * <caption>The words</caption>
 * <tr><td>0</td><td>written by the server: 0 without the lease, else how much work the session
 * may queue: {@link #HELD}, {@link #BOUNDED}, {@link #SHORT}</td></tr>
 * <tr><td>8</td><td>written by the worker: the pieces of work that run now</td></tr>
 * <tr><td>16</td><td>written by the worker: the threads that wait for the lease</td></tr>
 * <tr><td>24</td><td>written by the worker: the time with work on the device, in nanoseconds</td></tr>
 * <tr><td>32</td><td>written by the worker: the time for which it has waited, in nanoseconds</td></tr>
 * <tr><td>40, 48</td><td>written by the worker: the parts of the time at 24 in which it only copied
 * to the device, and only copied from it, in nanoseconds</td></tr>
 * </table>
 *
 * The worker may be compromised and write anything anywhere in the page. The server reads no word
 * that it writes itself, and times are no longer than the session has lasted, and the parts of a
 * time together no longer than the time. Thread-safe.
 */
public final class LeasePage implements AutoCloseable {
  /** The size of the memory, in bytes. */
  static final int BYTES = 4096;

  static final int LEASE = 0;
  static final int RUNNING = 8;
  static final int WAITING = 16;
  static final int USED = 24;
  static final int WAITED = 32;
  static final int COPIED_TO_DEVICE = 40;
  static final int COPIED_FROM_DEVICE = 48;

  /** The session may not begin work. */
  static final long NONE = 0;

  /** The session may queue any amount of work. */
  static final long HELD = 1;

  /** Other guests use the device too: the session should queue little work at a time. */
  static final long BOUNDED = 2;

  /** A guest that does not wait for turns may come: the session should queue very little. */
  static final long SHORT = 3;

  private final SealedMemory memory;
  private final LongSupplier clock;
  private final long started;

  @GuardedBy("this")
  private boolean isClosed;

  @GuardedBy("this")
  private long used;

  @GuardedBy("this")
  private long copiedTo;

  @GuardedBy("this")
  private long copiedFrom;

  @GuardedBy("this")
  private long waited;

  private LeasePage(SealedMemory memory, LongSupplier clock) {
    this.memory = memory;
    this.clock = clock;
    this.started = clock.getAsLong();
    this.isClosed = memory == null;
  }

  /** Returns the page of a session that is served without a worker. */
  public static LeasePage none() {
    return new LeasePage(null, System::nanoTime);
  }

  /** Makes the page of a session, without the lease. */
  public static LeasePage create() throws IOException {
    return create(System::nanoTime);
  }

  /**
   * Makes the page of a session, without the lease.
   *
   * @param clock the clock by which no time is longer than the session, for tests
   */
  public static LeasePage create(LongSupplier clock) throws IOException {
    return new LeasePage(SealedMemory.create("graft-lease", BYTES), clock);
  }

  /**
   * Maps the page of a session of another server, whose arbiter this process is.
   *
   * @param fd the descriptor of the page, which this method takes over
   * @throws IOException if that is no page of a session
   */
  public static LeasePage received(int fd) throws IOException {
    return new LeasePage(SealedMemory.open(fd, BYTES), System::nanoTime);
  }

  /** Returns the descriptor of the memory, which belongs to this object. */
  public int fd() {
    return memory.fd();
  }

  /** Gives the lease, and says how much work the session may queue. */
  public void grant(Queueing queueing) {
    put(
        switch (queueing) {
          case ANY -> HELD;
          case LITTLE -> BOUNDED;
          case LEAST -> SHORT;
        });
  }

  /** How much work a session may queue. */
  public enum Queueing {
    /** Nobody else uses the device. */
    ANY,
    /** Other guests wait for their turns. */
    LITTLE,
    /** A guest may come that does not wait for its turn. */
    LEAST
  }

  /** Takes the lease. */
  public void revoke() {
    put(NONE);
  }

  private synchronized void put(long value) {
    if (!isClosed) {
      Memory.putLongVolatile(memory.address() + LEASE, value);
    }
  }

  /** Returns whether work of the session runs on the device, as the worker says. */
  public synchronized boolean isRunning() {
    return word(RUNNING) != 0;
  }

  /** Returns whether the session waits for the lease, as the worker says. */
  public synchronized boolean isWaiting() {
    return word(WAITING) != 0;
  }

  /** Returns how long the session has used the device, in nanoseconds. */
  public synchronized long used() {
    used = Math.max(used, plausible(word(USED)));
    return used;
  }

  /**
   * For how long a session has used the device, in nanoseconds, and the parts of that time in which
   * it did nothing there but copy in one direction.
   *
   * @param used all of the time, which the parts together do not exceed
   * @param copiedTo the part with nothing but copies to the device
   * @param copiedFrom the part with nothing but copies from the device
   */
  public record GpuTime(long used, long copiedTo, long copiedFrom) {}

  /** Returns how long the session has used the device. */
  public synchronized GpuTime gpuTime() {
    used();
    copiedTo = Math.max(copiedTo, Math.min(word(COPIED_TO_DEVICE), used - copiedFrom));
    copiedFrom = Math.max(copiedFrom, Math.min(word(COPIED_FROM_DEVICE), used - copiedTo));
    return new GpuTime(used, copiedTo, copiedFrom);
  }

  /** Returns how long the session has waited for the device, in nanoseconds. */
  public synchronized long waited() {
    waited = Math.max(waited, plausible(word(WAITED)));
    return waited;
  }

  private long plausible(long nanos) {
    return Math.min(nanos, clock.getAsLong() - started);
  }

  @GuardedBy("this")
  private long word(int offset) {
    return isClosed ? 0 : Memory.getLongVolatile(memory.address() + offset);
  }

  /** Unmaps the memory. The times stay readable. */
  @Override
  public synchronized void close() {
    if (!isClosed) {
      gpuTime();
      waited();
      isClosed = true;
      memory.close();
    }
  }
}
