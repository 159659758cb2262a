package graft.comparison.link;

import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * When data that enters one direction of a link leaves it. All connections share the direction's
 * rate. Times are in nanoseconds of any one clock.
 */
final class LinkTimes {
  /** How much a link with a rate stores before it takes no more, as the queue of a router does. */
  private static final long QUEUE = TimeUnit.MILLISECONDS.toNanos(20);

  private final long delay;
  private final Optional<LinkRate> rate;
  private long free;
  private boolean isUsed;

  /**
   * A direction that carries nothing yet.
   *
   * @param delay the time that each byte takes
   * @param rate empty if the link is as fast as this machine
   */
  LinkTimes(long delay, Optional<LinkRate> rate) {
    this.delay = delay;
    this.rate = rate;
  }

  /**
   * The time at which data leaves the link.
   *
   * @param now when the data is there
   * @param open from when on its connection carries data
   */
  synchronized long arrival(long now, long open, int bytes) {
    long begin = isUsed ? Math.max(now, free) : now;
    isUsed = true;
    free = begin + rate.map(r -> r.nanoseconds(bytes)).orElse(0L);
    return Math.max(free, open) + delay;
  }

  /**
   * The time at which the link takes more data of a connection.
   *
   * @param arrival when what it has taken last leaves the link
   */
  long room(long arrival) {
    return arrival - delay - QUEUE;
  }
}
