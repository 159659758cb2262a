package graft.deployment.step.guest;

import graft.common.values.Seconds;
import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StoppedException;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.hypervisors.libvirt.Guest;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * Installs a guest's payload on its disk. There is nothing to undo, because undo deletes the disk.
 */
interface Install extends BringsPayload {
  Duration PAUSE = Duration.ofSeconds(1);

  /** The time limit of a ping. An emulated guest takes seconds to accept an SSH login. */
  Duration PING = Duration.ofSeconds(20);

  /** The install method, for display: {@code by the guest agent}. */
  String method();

  @Override
  default String name() {
    return "install";
  }

  @Override
  default String describe() {
    return "install " + method() + ": " + payload().summary();
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

  /** Installs everything, and returns how many things it changed. */
  interface Attempt {
    int bring() throws IOException;
  }

  /** Repeats the attempt if the guest goes away in the middle, as when it reboots. */
  default int bring(
      StepContext context,
      Guest domain,
      GuestConnection connection,
      TimeSpan timeout,
      Attempt attempt)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toDuration().toNanos();
    while (true) {
      try {
        return attempt.bring();
      } catch (GuestConnectionException e) {
        if (!e.unresponsive() || System.nanoTime() > deadline || !domain.state().isActive()) {
          throw e;
        }
        context.progress(this, "it stopped answering; waiting for it");
      }
      while (!connection.answers(PING) && System.nanoTime() < deadline) {
        if (context.isStopping()) {
          throw new StoppedException();
        }
        Thread.sleep(PAUSE.toMillis());
      }
    }
  }

  /**
   * The result for the journal.
   *
   * @param changed how many things it changed
   * @param start when it began, as {@link System#nanoTime} says it
   */
  static Map<String, Object> result(long changed, long start) {
    return Map.of("changed", changed, "seconds", Seconds.since(start));
  }
}
