package graft.common.bind;

import java.util.Comparator;

/** One thing that is wrong with a file, where, and what to do about it (may be empty). */
public record Problem(Position position, String message, String hint) {
  static final Comparator<Problem> BY_POSITION =
      Comparator.comparing((Problem p) -> p.position().file())
          .thenComparingInt(p -> p.position().line())
          .thenComparingInt(p -> p.position().column());

  @Override
  public String toString() {
    return position + ": " + message + (hint.isEmpty() ? "" : " (" + hint + ")");
  }
}
