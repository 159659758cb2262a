package graft.comparison.results;

import java.util.Locale;

/** The state in which a program was measured. */
public enum State {
  /** Measured in a new process, with every cache of compiled kernels empty. */
  EMPTY("new process, caches empty"),
  /** Measured in a new process, with the caches filled. */
  FILLED("new process"),
  /** Measured repeatedly in one process. */
  WARM("warm");

  private final String title;

  State(String title) {
    this.title = title;
  }

  /** The displayed name of the state. */
  public String title() {
    return title;
  }

  /** The name of the state in results files. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The state with this name in results files.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static State of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
