package graft.deployment.plan;

import graft.common.GraftException;
import graft.common.bind.Problem;
import graft.common.bind.Problems;
import java.util.List;
import java.util.stream.Collectors;

/** This host cannot run the descriptor; nothing was changed. */
public final class UnfitHostException extends GraftException {
  private static final long serialVersionUID = 1;

  private final transient List<Problem> problems;

  public UnfitHostException(List<Problem> problems) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n")), "");
    this.problems = List.copyOf(problems);
  }

  /** The problems, in the order of the descriptor. */
  public List<Problem> problems() {
    return problems;
  }

  /** Throws it if there are problems. */
  static void refuse(Problems problems) {
    if (!problems.isEmpty()) {
      throw new UnfitHostException(problems.sorted());
    }
  }
}
