package graft.comparison.results;

import java.util.Locale;

/** The state in which a program was measured. */
public enum State {
  /** In a new process, with every cache of compiled kernels empty. */
  EMPTY("new process, caches empty"),
  /** In a new process, with the caches filled. */
  FILLED("new process"),
  /** Repeated in one process. */
  WARM("warm");

  private final String title;

  State(String title) {
    this.title = title;
  }

  /** The state for people. */
  public String title() {
    return title;
  }

  /** The state as results files name it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The state that results files name so.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static State of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
