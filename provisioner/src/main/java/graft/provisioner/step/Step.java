package graft.provisioner.step;

import graft.provisioner.observe.Snapshot;
import java.util.Map;

/**
 * One change to the host, as a record.
 *
 * <p>A process may be killed at any moment, and then the step is done or undone again: {@link
 * #apply} must cope with all or part of it being done, {@link #undo} with all or part of it
 * missing.
 */
public interface Step {
  /** What it belongs to. */
  Lane lane();

  /** What it is, within its lane: {@code define}. */
  String name();

  /** One line that says what it will do, without the lane's name. */
  String describe();

  /** Whether the host is already as this step leaves it. The journal is asked by others. */
  boolean isDone(Snapshot snapshot);

  /**
   * How the host is, as far as {@link #undo} needs it. The journal has it before the step begins
   * and keeps what it was told first, however often the step is done anew.
   *
   * @return plain JSON values
   */
  default Map<String, Object> before(StepContext context) throws Exception {
    return Map.of();
  }

  /**
   * Does it.
   *
   * @return what is worth to be remembered, for {@code status} and later steps; plain JSON values
   * @throws Exception if it did not work; what it did is then undone by {@link #undo}
   */
  Map<String, Object> apply(StepContext context) throws Exception;

  /** Takes it back. */
  void undo(StepContext context) throws Exception;

  /** Whether {@link #undo} changes anything. */
  default boolean leavesSomething() {
    return true;
  }

  /** Whether doing it anew leaves the steps after it as they are. */
  default boolean isInPlace() {
    return false;
  }

  /** Whether the steps after it stand with and without it: a device that can be plugged in. */
  default boolean isPluggable() {
    return false;
  }

  /** Whether it stays as it is when steps before it are done anew: a disk outlives a new seed. */
  default boolean isIndependent() {
    return false;
  }

  /**
   * Whether the steps before it can be taken back when it cannot: it does not stand on them, or
   * they are what holds it.
   */
  default boolean canBeLeft() {
    return isIndependent();
  }

  /** Unique in a set-up: {@code guest/alice/define}. */
  default String id() {
    return lane().phase().id() + "/" + lane().name() + "/" + name();
  }
}
