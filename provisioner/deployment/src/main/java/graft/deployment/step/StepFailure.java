package graft.deployment.step;

import graft.common.GraftException;

/** A step failed. */
public final class StepFailure extends GraftException {
  private static final long serialVersionUID = 1;

  public StepFailure(String what, String next) {
    super(what, next);
  }

  public StepFailure(String what, String next, Throwable cause) {
    super(what, next, cause);
  }
}
