package graft.comparison.run;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import graft.comparison.results.Measurement;
import java.util.List;
import java.util.Map;

/** One line of the results log. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "entry")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Entry.Begin.class, name = "begin"),
  @JsonSubTypes.Type(value = Entry.ShutOff.class, name = "shut-off"),
  @JsonSubTypes.Type(value = Entry.Started.class, name = "started"),
  @JsonSubTypes.Type(value = Entry.Impossible.class, name = "impossible"),
  @JsonSubTypes.Type(value = Entry.Preparing.class, name = "preparing"),
  @JsonSubTypes.Type(value = Entry.Ready.class, name = "ready"),
  @JsonSubTypes.Type(value = Entry.NotReady.class, name = "not-ready"),
  @JsonSubTypes.Type(value = Entry.Down.class, name = "down"),
  @JsonSubTypes.Type(value = Entry.Amount.class, name = "amount"),
  @JsonSubTypes.Type(value = Entry.Run.class, name = "run"),
  @JsonSubTypes.Type(value = Entry.Profile.class, name = "profile"),
  @JsonSubTypes.Type(value = Entry.Stopped.class, name = "stopped")
})
public sealed interface Entry {
  /**
   * The first line.
   *
   * @param digest of the suite's text: a log belongs to one text
   * @param at when, in ISO 8601
   */
  record Begin(String digest, String suite, long seed, String at, Map<String, String> machine)
      implements Entry {}

  /** From here on until {@link Started} a guest that is none of the comparison's may be off. */
  record ShutOff(String guest) implements Entry {}

  /** It was started again. */
  record Started(String guest) implements Entry {}

  /** The site cannot do a setting. */
  record Impossible(String setting, String why) implements Entry {}

  /** From here on until {@link Down} something of this setting may be on the host. */
  record Preparing(int block, String setting) implements Entry {}

  /** A setting was made ready. */
  record Ready(int block, String setting, double seconds, int guestsRunning) implements Entry {}

  /** A setting could not be made ready although it should. */
  record NotReady(int block, String setting, String why) implements Entry {}

  /** A setting was taken down. */
  record Down(int block, String setting) implements Entry {}

  /** The amount of work that a case has from now on, as found in that setting. */
  record Amount(String key, String setting, String amount) implements Entry {}

  /**
   * A case was run.
   *
   * @param result how it ended
   * @param why what was wrong, empty if nothing
   * @param seconds how long the slowest copy ran
   */
  record Run(
      int block,
      String setting,
      String key,
      Result result,
      String why,
      double seconds,
      List<Measurement> figures,
      Noise noise)
      implements Entry {}

  /** Where a case's time went, by a run of its own that does not count. */
  record Profile(String setting, String key, Map<String, Object> profile) implements Entry {}

  /** The comparison stopped before its end. */
  record Stopped(String why) implements Entry {}
}
