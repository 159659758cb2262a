package graft.deployment.journal;

import graft.deployment.step.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a journal: the steps that were begun and not undone, oldest first.
 *
 * @param entries by the steps' ids
 * @param lastRun the number of the last run, 0 if there was none
 * @param descriptor the file of the last apply; empty if there was none
 * @param uri the libvirt connection of the last apply; empty if there was none
 */
public record JournalState(
    Map<String, Entry> entries, long lastRun, String descriptor, String uri) {
  /** The state of a journal that does not exist. */
  public static final JournalState EMPTY = new JournalState(Map.of(), 0, "", "");

  /** Copies the entries in their order. */
  public JournalState {
    entries = Collections.unmodifiableMap(new LinkedHashMap<>(entries));
  }

  public Optional<Entry> entry(String id) {
    return Optional.ofNullable(entries.get(id));
  }

  /** A step by its id, if it was begun and is of that kind. */
  public <T extends Step> Optional<T> step(String id, Class<T> type) {
    return entry(id).map(Entry::step).filter(type::isInstance).map(type::cast);
  }

  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Whether a step was interrupted or could not be undone. */
  public boolean isPartial() {
    return entries.values().stream().anyMatch(e -> !e.isDone());
  }

  /** The steps of the last run, last first. */
  public List<Step> lastRunNewestFirst() {
    return newestFirst().stream().filter(step -> entries.get(step.id()).run() == lastRun).toList();
  }

  /** The steps, last first. */
  public List<Step> newestFirst() {
    List<Step> steps = new ArrayList<>(entries.values().stream().map(Entry::step).toList());
    Collections.reverse(steps);
    return steps;
  }
}
