package graft.comparison.run;

import graft.common.json.RecordTrees;
import graft.comparison.results.Measurement;
import graft.comparison.results.State;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One line of the results log. */
public sealed interface Entry {
  /** Every kind of entry, by its name in logs. */
  Map<String, Class<? extends Entry>> KINDS =
      Map.ofEntries(
          Map.entry("begin", Begin.class),
          Map.entry("shut-off", ShutOff.class),
          Map.entry("started", Started.class),
          Map.entry("impossible", Impossible.class),
          Map.entry("preparing", Preparing.class),
          Map.entry("ready", Ready.class),
          Map.entry("not-ready", NotReady.class),
          Map.entry("down", Down.class),
          Map.entry("amount", Amount.class),
          Map.entry("run", Run.class),
          Map.entry("profile", Profile.class),
          Map.entry("stopped", Stopped.class));

  /** Converts entries to trees and back. */
  RecordTrees TREES = new RecordTrees(Map.of(Result.class, Result::of, State.class, State::of));

  /** An entry as a tree of JSON. */
  static Map<String, Object> write(Entry entry) {
    Map<String, Object> tree = new LinkedHashMap<>();
    KINDS.forEach(
        (word, type) -> {
          if (type.isInstance(entry)) {
            tree.put("entry", word);
          }
        });
    tree.putAll(TREES.write((Record) entry));
    return tree;
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IllegalArgumentException if the tree is not an entry
   */
  static Entry read(Map<String, Object> tree) {
    Class<? extends Entry> type = KINDS.get(String.valueOf(tree.get("entry")));
    if (type == null) {
      throw new IllegalArgumentException("no kind of entry: " + tree.get("entry"));
    }
    if (tree.get("figures") instanceof List<?> figures) {
      tree.put("figures", figures.stream().map(Entry::withSamples).toList());
    }
    if (type == Profile.class) {
      tree.putIfAbsent("block", 1); // earlier versions profiled once in a comparison
    }
    return TREES.read(type, tree);
  }

  /** Converts a figure of an earlier version's log, which has one value instead of the samples. */
  private static Object withSamples(Object figure) {
    if (figure instanceof Map<?, ?> old && old.containsKey("value")) {
      Map<Object, Object> current = new LinkedHashMap<>(old);
      current.put("samples", Collections.singletonList(old.get("value")));
      return current;
    }
    return figure;
  }

  /**
   * The first line of a log.
   *
   * @param digest the digest of the suite's text: a log belongs to exactly one text
   * @param at the time of the start, in ISO 8601
   */
  record Begin(String digest, String suite, long seed, String at, Map<String, String> machine)
      implements Entry {}

  /**
   * Until the matching {@link Started}, a guest that does not belong to the comparison may be off.
   */
  record ShutOff(String guest) implements Entry {}

  /** A guest that had been shut off was started again. */
  record Started(String guest) implements Entry {}

  /** The site does not support a setting. */
  record Impossible(String setting, String why) implements Entry {}

  /** Until the matching {@link Down}, parts of this setting may exist on the host. */
  record Preparing(int block, String setting) implements Entry {}

  /** A setting was made ready. */
  record Ready(int block, String setting, double seconds, int guestsRunning) implements Entry {}

  /** Making a setting ready failed, although the site supports it. */
  record NotReady(int block, String setting, String why) implements Entry {}

  /** A setting was taken down. */
  record Down(int block, String setting) implements Entry {}

  /**
   * The amount of work that a case has from now on, as calibration in that setting determined it.
   */
  record Amount(String key, String setting, String amount) implements Entry {}

  /**
   * A case was run.
   *
   * @param result the outcome of the run
   * @param why the cause of a failure; empty if the run was successful
   * @param seconds the run time of the slowest copy
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

  /** The breakdown of a case's time, from a separate run of this block that does not count. */
  record Profile(int block, String setting, String key, Map<String, Object> profile)
      implements Entry {}

  /** The comparison stopped before its end. */
  record Stopped(String why) implements Entry {}
}
