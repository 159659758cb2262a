package graft.comparison.results;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The state in which a program was measured. */
public enum State {
  /** In a new process, with every cache of compiled kernels empty. */
  @JsonProperty("empty")
  EMPTY("new process, caches empty"),
  /** In a new process, with the caches filled. */
  @JsonProperty("filled")
  FILLED("new process"),
  /** Repeated in one process. */
  @JsonProperty("warm")
  WARM("warm");

  private final String title;

  State(String title) {
    this.title = title;
  }

  /** The state for people. */
  public String title() {
    return title;
  }
}
