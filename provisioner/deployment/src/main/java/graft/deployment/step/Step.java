package graft.deployment.step;

import graft.common.change.Change;
import graft.deployment.observe.Snapshot;
import java.util.Map;

/**
 * A change with its place in a plan, as a record: the chain that it belongs to, its name there, and
 * what the steps after it in that chain need of it.
 */
public interface Step extends Change<Snapshot, StepContext> {
  /** What it belongs to. */
  Chain chain();

  /** What it is, within its chain: {@code define}. */
  String name();

  @Override
  String describe();

  /** Whether the host is already as this step leaves it. The journal is asked by others. */
  @Override
  boolean isDone(Snapshot snapshot);

  /** The journal keeps what it was told first, however often the step is done again. */
  @Override
  default Map<String, Object> before(StepContext context) throws Exception {
    return Map.of();
  }

  /** Whether {@link #undo} changes anything. */
  default boolean leavesSomething() {
    return true;
  }

  /** Whether doing it again leaves the steps after it as they are. */
  default boolean isInPlace() {
    return false;
  }

  /** Whether the steps after it stand with and without it: a device that can be plugged in. */
  default boolean isPluggable() {
    return false;
  }

  /** Whether it stays as it is when steps before it are done again: a disk outlives a new seed. */
  default boolean isIndependent() {
    return false;
  }

  /**
   * Whether the steps before it can be undone when it cannot: it does not stand on them, or they
   * are what holds it.
   */
  default boolean canBeLeft() {
    return isIndependent();
  }

  /** Unique in a deployment: {@code guest/alice/define}. */
  default String id() {
    return chain().phase().id() + "/" + chain().name() + "/" + name();
  }
}
