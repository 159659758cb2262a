package graft.sriov;

import java.util.List;
import java.util.stream.Collectors;

/** A request was refused, with all reasons at once. Nothing was changed. */
public class RefusedException extends HostException {
  private static final long serialVersionUID = 1;

  private final List<Problem> problems;

  public RefusedException(Problem problem) {
    super(problem.what(), problem.subject(), problem.next());
    this.problems = List.of(problem);
  }

  private RefusedException(List<Problem> problems) {
    super(
        problems.size()
            + " problems, nothing was changed:\n  "
            + problems.stream().map(Problem::toString).collect(Collectors.joining("\n  ")),
        problems.get(0).subject(),
        "Fix these and try again");
    this.problems = List.copyOf(problems);
  }

  /** Throws if there is at least one problem. */
  public static void throwIfAny(List<Problem> problems) {
    if (problems.size() == 1) {
      throw new RefusedException(problems.get(0));
    }
    if (!problems.isEmpty()) {
      throw new RefusedException(problems);
    }
  }

  /** The reasons; at least one. */
  public List<Problem> problems() {
    return problems;
  }
}
