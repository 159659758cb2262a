package graft.deployment.plan;

import graft.deployment.step.Step;

/**
 * One line of a plan.
 *
 * @param why what makes it needed, in a few words; empty where that is plain
 */
public record Action(Kind kind, Step step, String why) {
  /** What is done with the step. */
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
