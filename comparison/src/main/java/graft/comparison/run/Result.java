package graft.comparison.run;

import java.util.Locale;

/** The outcome of a run. */
public enum Result {
  /** The run produced its figures. */
  OK,
  /** The program failed, or its result was wrong. */
  FAILED,
  /** The program reported that one of its requirements is missing. */
  UNSUPPORTED,
  /** The program was killed at its time limit. */
  TIMEOUT,
  /** The place in which the program ran died. */
  LOST;

  static Result of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** The outcome as the log writes it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
