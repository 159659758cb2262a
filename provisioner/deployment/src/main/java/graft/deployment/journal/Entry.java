package graft.deployment.journal;

import graft.deployment.step.Step;
import java.util.Map;

/**
 * A step that was begun and has not been undone.
 *
 * @param run the number of the run that did it last
 * @param status how far it came
 * @param before how the host was before it was first begun
 * @param result what it left to be remembered
 */
public record Entry(
    Step step, long run, Status status, Map<String, Object> before, Map<String, Object> result) {
  /** How far a step came. */
  public enum Status {
    /** It may be done in part. */
    BEGUN,
    DONE,
    /** It failed and may be done in part. */
    FAILED,
    /** It may be undone in part. */
    UNDOING
  }

  public boolean isDone() {
    return status == Status.DONE;
  }
}
