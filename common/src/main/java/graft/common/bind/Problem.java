package graft.common.bind;

import java.util.Comparator;

/** An error in a file, its position, and what to do about the error (may be empty). */
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
