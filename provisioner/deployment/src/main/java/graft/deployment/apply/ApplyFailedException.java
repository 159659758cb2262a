package graft.deployment.apply;

import graft.common.GraftException;
import java.util.ArrayList;
import java.util.List;

/** A plan was not carried out. */
public final class ApplyFailedException extends GraftException {
  private static final long serialVersionUID = 1;

  private final transient List<String> errors;
  private final boolean partial;

  ApplyFailedException(String outcome, List<String> errors, boolean partial) {
    super(
        String.join("\n", errors) + "\n" + outcome,
        partial ? "graft apply continues from here; graft undo reverts it" : "");
    this.errors = List.copyOf(new ArrayList<>(errors));
    this.partial = partial;
  }

  /** Everything that went wrong, each with its chain. */
  public List<String> errors() {
    return errors;
  }

  /** Whether something is left that was not there before. */
  public boolean isPartial() {
    return partial;
  }
}
