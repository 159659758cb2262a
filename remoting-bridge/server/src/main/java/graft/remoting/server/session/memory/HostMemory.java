package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.exchange.Limit;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The memory of the host that a session makes its worker hold: buffers of copies, code, the
 * driver's objects, waits. Whatever a record makes the worker keep is counted here first, so that
 * the session's limit holds for the sum. Thread-safe.
 */
public final class HostMemory {
  /**
   * The bytes that an object counts whose size only the driver knows, such as a stream, a node of a
   * graph or a wait.
   */
  public static final long OBJECT = 1 << 10;

  private static final long PAUSE_MILLIS = 20;

  private final long limit;
  private final GuestUse guest;
  private final Consumer<Limit> reached;

  @GuardedBy("this")
  private long held;

  /** How often memory was given back. */
  @GuardedBy("this")
  private long returns;

  /** Whether nothing was given back while a thread last waited. */
  @GuardedBy("this")
  private boolean isStalled;

  /**
   * Creates the account of a session.
   *
   * @param limit the limit in bytes, 0 for none
   * @param reached told which limit has refused something
   */
  public HostMemory(long limit, GuestUse guest, Consumer<Limit> reached) {
    this.limit = limit;
    this.guest = guest;
    this.reached = reached;
  }

  /** Returns an account without a limit. */
  public static HostMemory unlimited() {
    return new HostMemory(0, GuestUse.unlimited(), which -> {});
  }

  /**
   * Counts {@code bytes} before they are allocated.
   *
   * @return false, and nothing is counted, if the limit does not allow it
   */
  public boolean take(long bytes) {
    Limit refusing = tryTake(bytes);
    if (refusing != null) {
      reached.accept(refusing);
    }
    return refusing == null;
  }

  /**
   * As {@link #take}, for what the session can do without: it leaves half of the session's limit to
   * the rest, and a refusal is not reported.
   */
  public synchronized boolean takeSpare(long bytes) {
    return (limit == 0 || bytes <= limit / 2 - held) && tryTake(bytes) == null;
  }

  /**
   * As {@link #take}, but waits for other memory to be given back, unless nothing was given back
   * since the last wait. A refusal is not reported: the caller may have memory to give back itself.
   *
   * @param millis the longest wait
   */
  public boolean await(long bytes, long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Limit refusing = tryTake(bytes);
    while (refusing != null) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0 || (limit != 0 && bytes > limit) || !pause(left)) {
        stall();
        return false;
      }
      refusing = tryTake(bytes);
    }
    return true;
  }

  /**
   * Waits for a moment. The memory of another session is given back without a notice, so that the
   * waits are short.
   *
   * @return false if nothing was given back since the last wait ended without success
   */
  private synchronized boolean pause(long millis) {
    long before = returns;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(millis, PAUSE_MILLIS));
    try {
      while (!isStalled && returns == before && System.nanoTime() < end) {
        wait(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("nothing interrupts the threads of a session", e);
    }
    return !isStalled;
  }

  private synchronized void stall() {
    isStalled = true;
  }

  /** Returns the limit that refuses the bytes, null if they are counted now. */
  private synchronized Limit tryTake(long bytes) {
    if (bytes < 0 || (limit != 0 && bytes > limit - held)) {
      return Limit.SESSION_HOST_MEMORY;
    }
    if (!guest.take(GuestUse.Resource.HOST_MEMORY, bytes)) {
      return Limit.GUEST_HOST_MEMORY;
    }
    held += bytes;
    return null;
  }

  /**
   * Counts {@code bytes} that are held already, if need be beyond the limit, which then refuses all
   * that is to be held further.
   */
  public synchronized void takeBeyond(long bytes) {
    held += bytes;
    guest.add(GuestUse.Resource.HOST_MEMORY, bytes);
  }

  /** Stops counting {@code bytes} that were released. */
  public synchronized void give(long bytes) {
    held -= bytes;
    isStalled = false;
    returns++;
    guest.add(GuestUse.Resource.HOST_MEMORY, -bytes);
    notifyAll();
  }

  /** Returns the bytes that are counted. */
  public synchronized long held() {
    return held;
  }
}
