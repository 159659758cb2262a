package graft.common.bind;

import java.util.ArrayList;
import java.util.List;

/** Collects all problems of a file, so that one report names all of them. */
public final class Problems {
  private final List<Problem> found = new ArrayList<>();

  /** Adds a problem without a hint. */
  public void add(Position position, String message) {
    add(position, message, "");
  }

  /** Adds a problem with a hint: what to do about the problem. */
  public void add(Position position, String message, String hint) {
    found.add(new Problem(position, message, hint));
  }

  public boolean isEmpty() {
    return found.isEmpty();
  }

  /** All problems, in the order of their positions in the file. */
  public List<Problem> sorted() {
    return found.stream().sorted(Problem.BY_POSITION).toList();
  }
}
