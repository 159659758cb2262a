package graft.comparison.bench;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * Waits until the processes that this one has started are at rest. A worker that waits for its
 * session warms up what sessions use; a server that has been up for a few seconds has done so.
 */
final class Rest {
  private static final Duration STEP = Duration.ofMillis(500);

  /** The most processor time of a step in which the processes are at rest. */
  private static final Duration IDLE = Duration.ofMillis(30);

  /** How many such steps follow each other at rest, and how many there are at most. */
  private static final int QUIET_STEPS = 2;

  private static final int MOST_STEPS = 40;

  private Rest() {}

  static void await() throws InterruptedException {
    await(Rest::processorTime, STEP);
  }

  static void await(Supplier<Duration> processorTime, Duration step) throws InterruptedException {
    Duration before = processorTime.get();
    int quiet = 0;
    for (int i = 0; i < MOST_STEPS && quiet < QUIET_STEPS; i++) {
      Thread.sleep(step.toMillis());
      Duration now = processorTime.get();
      quiet = now.minus(before).compareTo(IDLE) <= 0 ? quiet + 1 : 0;
      before = now;
    }
  }

  private static Duration processorTime() {
    return ProcessHandle.current()
        .descendants()
        .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
