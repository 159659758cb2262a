package graft.provisioner.step.guest;

import graft.provisioner.observe.Snapshot;
import graft.provisioner.setup.Payload;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import java.time.Duration;
import java.util.Map;

/**
 * Brings a guest's payload onto its disk, whatever the way. What is on the guest's own disk goes
 * with the disk, so there is nothing to undo.
 */
interface Install extends Step {
  String guest();

  Payload payload();

  /** The way in, for people: {@code in by its agent}. */
  String way();

  @Override
  default Lane lane() {
    return Lane.guest(guest());
  }

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
  default void undo(StepContext context) {}

  /**
   * What is remembered of it.
   *
   * @param changed how many things it changed
   * @param start when it began, as {@link System#nanoTime} says it
   */
  static Map<String, Object> result(long changed, long start) {
    return Map.of(
        "changed",
        changed,
        "seconds",
        Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0);
  }
}
