package graft.deployment.plan;

import graft.deployment.step.Step;

/**
 * One line of a plan.
 *
 * @param why the reason, in a few words; empty where it is obvious
 */
public record Action(Kind kind, Step step, String why) {
  /** Whether the step is done or undone. */
  public enum Kind {
    DO,
    UNDO
  }

  @Override
  public String toString() {
    return (kind == Kind.DO ? "+ " : "- undo: ")
        + step.describe()
        + (why.isEmpty() ? "" : " (" + why + ")");
  }
}
