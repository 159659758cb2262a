package graft.common.bind;

import java.util.ArrayList;
import java.util.List;

/** Collects all problems, to report them together. */
public final class Problems {
  private final List<Problem> found = new ArrayList<>();

  /** Notes a problem without a hint. */
  public void add(Position position, String message) {
    add(position, message, "");
  }

  /** Notes a problem and what to do about it. */
  public void add(Position position, String message, String hint) {
    found.add(new Problem(position, message, hint));
  }

  public boolean isEmpty() {
    return found.isEmpty();
  }

  /** All problems, in the order of the file. */
  public List<Problem> sorted() {
    return found.stream().sorted(Problem.BY_POSITION).toList();
  }
}
