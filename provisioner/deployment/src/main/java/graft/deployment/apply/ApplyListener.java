package graft.deployment.apply;

import graft.deployment.step.Step;
import java.time.Duration;

/** Receives the progress of a plan, from several threads. */
public interface ApplyListener {
  /** Ignores everything. */
  ApplyListener NONE = new ApplyListener() {};

  default void beginning(Step step) {}

  default void progress(Step step, String text) {}

  default void done(Step step, Duration took) {}

  default void failed(Step step, String error) {}

  default void undoing(Step step) {}

  default void undone(Step step) {}

  default void undoFailed(Step step, String error) {}
}
