package graft.remoting.server.worker;

import graft.remoting.server.system.Libc;
import java.util.function.LongSupplier;

/**
 * Gives memory back to the host that the warm-up or the first calls of a session needed, once the
 * client has done nothing for a while. It is not done between calls, since it would hold them up
 * for milliseconds. One thread uses this object.
 */
final class IdleMemory {
  /** Java's compilers keep their memory for five seconds, and give it to the C library then. */
  private static final long AFTER_NANOS = 7_000_000_000L;

  private final LongSupplier clock;
  private final Runnable giveBack;
  private long activity;
  private long since;
  private boolean hasGiven;

  IdleMemory() {
    this(System::nanoTime, () -> Libc.malloc_trim(0));
  }

  /** Gives memory back by other means, for tests. */
  IdleMemory(LongSupplier clock, Runnable giveBack) {
    this.clock = clock;
    this.giveBack = giveBack;
    this.since = clock.getAsLong();
  }

  /**
   * Gives memory back if it is time to. Called about once a second.
   *
   * @param now a number that changes whenever the client does something
   * @return whether memory was given back since the client did something
   */
  boolean look(long now) {
    if (now != activity) {
      activity = now;
      since = clock.getAsLong();
      hasGiven = false;
    } else if (!hasGiven && clock.getAsLong() - since >= AFTER_NANOS) {
      giveBack.run();
      hasGiven = true;
    }
    return hasGiven;
  }
}
