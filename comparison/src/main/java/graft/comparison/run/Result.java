package graft.comparison.run;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How a run ended. */
public enum Result {
  /** With its figures. */
  @JsonProperty("ok")
  OK,
  /** The program failed, or its result was wrong. */
  @JsonProperty("failed")
  FAILED,
  /** The program says that what it needs is not there. */
  @JsonProperty("unsupported")
  UNSUPPORTED,
  /** It was killed because its time was over. */
  @JsonProperty("timeout")
  TIMEOUT,
  /** What it ran in died. */
  @JsonProperty("lost")
  LOST;

  /** As the log writes it. */
  public String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
