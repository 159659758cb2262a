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
 * @param former the entries before the last apply, without those that another command has undone
 *     since
 */
public record JournalState(
    Map<String, Entry> entries,
    long lastRun,
    String descriptor,
    String uri,
    Map<String, Entry> former) {
  /** The state of a journal that does not exist. */
  public static final JournalState EMPTY = new JournalState(Map.of(), 0, "", "");

  /** Copies the entries in their order. */
  public JournalState {
    entries = Collections.unmodifiableMap(new LinkedHashMap<>(entries));
    former = Collections.unmodifiableMap(new LinkedHashMap<>(former));
  }

  /** The state of a journal whose last apply was its first. */
  public JournalState(Map<String, Entry> entries, long lastRun, String descriptor, String uri) {
    this(entries, lastRun, descriptor, uri, Map.of());
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

  /**
   * The steps that an undo of the last run undoes, last first: those of the run, and earlier ones
   * that are undone by half.
   */
  public List<Step> lastRunNewestFirst() {
    return newestFirst().stream()
        .filter(
            step -> {
              Entry entry = entries.get(step.id());
              return entry.run() == lastRun || entry.status() == Entry.Status.UNDOING;
            })
        .toList();
  }

  /**
   * The entries that were done before the last run and are not there as they were, in their order:
   * what an undo of the run does again once the steps of the run are undone.
   */
  public List<Entry> replaced() {
    return former.entrySet().stream()
        .filter(was -> was.getValue().isDone())
        .filter(
            was -> {
              Entry is = entries.get(was.getKey());
              return is == null || !is.isDone() || !is.step().equals(was.getValue().step());
            })
        .map(Map.Entry::getValue)
        .toList();
  }

  /** The steps, last first. */
  public List<Step> newestFirst() {
    List<Step> steps = new ArrayList<>(entries.values().stream().map(Entry::step).toList());
    Collections.reverse(steps);
    return steps;
  }
}
