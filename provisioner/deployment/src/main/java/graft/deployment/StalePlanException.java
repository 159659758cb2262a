package graft.deployment;

import graft.common.GraftException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/** A saved plan is not what would be done now. Nothing was changed. */
public final class StalePlanException extends GraftException {
  private static final long serialVersionUID = 1;
  private static final int MOST_LINES = 40;

  StalePlanException(Instant made, Path descriptor, List<String> differences) {
    super(
        "the host or "
            + descriptor
            + " has changed since the plan was made at "
            + made
            + "; nothing was changed:"
            + lines(differences),
        "look at graft plan " + descriptor + ", and save it again");
  }

  private static String lines(List<String> differences) {
    StringBuilder text = new StringBuilder();
    differences.stream().limit(MOST_LINES).forEach(d -> text.append("\n    ").append(d));
    if (differences.size() > MOST_LINES) {
      text.append("\n    and ").append(differences.size() - MOST_LINES).append(" more");
    }
    return text.toString();
  }
}
