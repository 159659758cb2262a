package graft.deployment.journal;

import graft.deployment.step.Step;
import java.util.Map;

/**
 * A step that was begun and has not been undone.
 *
 * @param run the number of the run that did it last
 * @param status its progress
 * @param before the values of the host from before it first began
 * @param result values that it recorded
 */
public record Entry(
    Step step, long run, Status status, Map<String, Object> before, Map<String, Object> result) {
  /** The progress of a step. */
  public enum Status {
    /** Begun: it may be done in part. */
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
