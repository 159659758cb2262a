package graft.deployment.descriptor;

import graft.common.bind.Problem;
import java.util.List;
import java.util.stream.Collectors;

/** A descriptor cannot be used; the message holds every problem, one on each line. */
public final class InvalidDescriptorException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient List<Problem> problems;

  public InvalidDescriptorException(List<Problem> problems) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n")));
    this.problems = List.copyOf(problems);
  }

  /** The problems, in the order of the file. */
  public List<Problem> problems() {
    return problems;
  }
}
