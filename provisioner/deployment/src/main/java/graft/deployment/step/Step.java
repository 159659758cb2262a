package graft.deployment.step;

import graft.common.change.Change;
import graft.deployment.observe.Snapshot;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A change with its place in a plan, as a record: the chain that it belongs to, its name there, and
 * what the steps after it in that chain need of it.
 */
public interface Step extends Change<Snapshot, StepContext> {
  /** Its chain. */
  Chain chain();

  /** Its name within its chain: {@code define}. */
  String name();

  @Override
  String describe();

  /**
   * Whether the host is already in the state that this step produces, regardless of the journal.
   */
  @Override
  boolean isDone(Snapshot snapshot);

  /** What the host lacks of it, in a few words, where it is not done although it was. */
  default String whyNotDone(Snapshot snapshot) {
    return "gone from the host";
  }

  /** The journal keeps the first values, however often the step is repeated. */
  @Override
  default Map<String, Object> before(StepContext context) throws Exception {
    return Map.of();
  }

  /**
   * The host as it would look without this step, for the checks of the steps before it: what a step
   * changes of their results is no change from outside.
   */
  default Snapshot without(Snapshot snapshot) {
    return snapshot;
  }

  /** Whether {@link #undo} changes anything. */
  default boolean leavesSomething() {
    return true;
  }

  /** Whether repeating it leaves the steps after it as they are. */
  default boolean isInPlace() {
    return false;
  }

  /** Whether the steps after it do not depend on it: a device that can be plugged in. */
  default boolean isPluggable() {
    return false;
  }

  /** Whether a step of a guest belongs before its start, although it can be done while it runs. */
  default boolean isBeforeStart() {
    return isPluggable() || isIndependent();
  }

  /** Whether it stays as it is when steps before it are repeated: a disk outlives a new seed. */
  default boolean isIndependent() {
    return false;
  }

  /** Whether the steps before it can be undone although this step cannot. */
  default boolean canBeLeft() {
    return isIndependent();
  }

  /**
   * The data that undoing it deletes, in words with its path; empty if it holds none that a guest
   * may have written.
   */
  default Optional<String> data() {
    return Optional.empty();
  }

  /** The data that undoing the steps deletes. */
  static List<String> data(List<Step> undone) {
    return undone.stream().map(Step::data).flatMap(Optional::stream).toList();
  }

  /** Unique in a deployment: {@code guest/alice/define}. */
  default String id() {
    return chain().phase().id() + "/" + chain().name() + "/" + name();
  }
}
