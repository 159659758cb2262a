package graft.deployment.step;

import java.util.regex.Pattern;

/**
 * A kind of step.
 *
 * @param id its permanent name in journals: lower-case words with hyphens
 * @param type the record that a step of this kind is
 */
public record StepKind(String id, Class<? extends Step> type) {
  private static final Pattern ID = Pattern.compile("[a-z]+(-[a-z]+)*");

  /** Refuses ids of another form, and types that are not records. */
  public StepKind {
    if (!ID.matcher(id).matches() || !type.isRecord()) {
      throw new IllegalArgumentException("no kind of step: " + id + ", " + type);
    }
  }
}
