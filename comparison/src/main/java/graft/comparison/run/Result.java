package graft.comparison.run;

import java.util.Locale;

/** How a run ended. */
public enum Result {
  /** With its figures. */
  OK,
  /** The program failed, or its result was wrong. */
  FAILED,
  /** The program says that what it needs is not there. */
  UNSUPPORTED,
  /** It was killed because its time was over. */
  TIMEOUT,
  /** What it ran in died. */
  LOST;

  static Result of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** As the log writes it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
