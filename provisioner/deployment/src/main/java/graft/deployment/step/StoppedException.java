package graft.deployment.step;

import graft.common.GraftException;

/** A step gave up because another one failed. */
public final class StoppedException extends GraftException {
  private static final long serialVersionUID = 1;

  public StoppedException() {
    super("stopped because another step failed", "");
  }
}
