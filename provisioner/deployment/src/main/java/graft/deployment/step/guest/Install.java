package graft.deployment.step.guest;

import graft.common.values.Seconds;
import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StoppedException;
import graft.guests.connection.Reach;
import graft.guests.connection.ReachException;
import graft.hypervisors.libvirt.Guest;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * Brings a guest's payload onto its disk, whatever the way. What is on the guest's own disk goes
 * with the disk, so there is nothing to undo.
 */
interface Install extends BringsPayload {
  Duration PAUSE = Duration.ofSeconds(1);

  /** An emulated guest takes seconds to let somebody in by SSH. */
  Duration PING = Duration.ofSeconds(20);

  /** The way in, for people: {@code in by its agent}. */
  String way();

  @Override
  default String name() {
    return "install";
  }

  @Override
  default String describe() {
    return "bring " + way() + ": " + payload().summary();
  }

  @Override
  default boolean isDone(Snapshot snapshot) {
    return true;
  }

  @Override
  default boolean leavesSomething() {
    return false;
  }

  @Override
  default void undo(StepContext context, Map<String, Object> before) {}

  /** Brings everything in, from the start; gives how many things it changed. */
  interface Attempt {
    int bring() throws IOException;
  }

  /** Makes attempts until the guest does not go away in the middle, as when it reboots. */
  default int bring(
      StepContext context, Guest domain, Reach reach, TimeSpan timeout, Attempt attempt)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toDuration().toNanos();
    while (true) {
      try {
        return attempt.bring();
      } catch (ReachException e) {
        if (!e.isAway() || System.nanoTime() > deadline || !domain.state().isActive()) {
          throw e;
        }
        context.progress(this, "it does not answer any more; waiting for it");
      }
      while (!reach.answers(PING) && System.nanoTime() < deadline) {
        if (context.isStopping()) {
          throw new StoppedException();
        }
        Thread.sleep(PAUSE.toMillis());
      }
    }
  }

  /**
   * What is remembered of it.
   *
   * @param changed how many things it changed
   * @param start when it began, as {@link System#nanoTime} says it
   */
  static Map<String, Object> result(long changed, long start) {
    return Map.of("changed", changed, "seconds", Seconds.since(start));
  }
}
