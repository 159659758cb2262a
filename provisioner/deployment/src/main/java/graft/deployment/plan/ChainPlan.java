package graft.deployment.plan;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Compares the steps that a chain should have with those that it has, and chooses what to undo and
 * what to do.
 *
 * <p>A step depends on the ones before it in its chain. From the first step that is missing,
 * changed or gone, all later ones are undone and done again. Exceptions are steps that can be
 * repeated in place, steps that can be plugged in, and steps that are independent of the ones
 * before. What such an independent step makes for the first time, a file, is used only by steps
 * that change with it.
 */
final class ChainPlan {
  private static final Pattern WORDS = Pattern.compile("[\\s(),]+");

  private final Snapshot snapshot;
  private final List<Step> wanted;
  private final Map<String, Entry> there = new LinkedHashMap<>();
  private final List<Action> undo = new ArrayList<>();
  private final List<Action> todo = new ArrayList<>();

  ChainPlan(Chain chain, List<Step> wanted, JournalState journal, Snapshot snapshot) {
    this.snapshot = snapshot;
    this.wanted = wanted;
    journal
        .entries()
        .forEach(
            (id, entry) -> {
              if (entry.step().chain().equals(chain)) {
                there.put(id, entry);
              }
            });
    compare();
  }

  private void compare() {
    Set<String> kept = new HashSet<>();
    boolean standing = true;
    for (Step step : wanted) {
      Entry entry = there.get(step.id());
      boolean own = standing || step.isIndependent();
      String why = own ? why(step, entry) : "";
      if (why == null) {
        kept.add(step.id());
        continue;
      }
      todo.add(new Action(Action.Kind.DO, step, why));
      boolean inPlace = step.isInPlace() && entry != null;
      if (own && (inPlace || canBeDoneOver(step, entry))) {
        kept.add(step.id());
      }
      standing &= inPlace || step.isPluggable() || (step.isIndependent() && !isUsed(entry));
    }
    List<Entry> newestFirst = new ArrayList<>(there.values());
    Collections.reverse(newestFirst);
    for (Entry entry : newestFirst) {
      if (!kept.contains(entry.step().id())) {
        undo.add(new Action(Action.Kind.UNDO, entry.step(), whyUndo(entry)));
      }
    }
  }

  /** Whether other steps may use what the step made: those that were done after it. */
  private boolean isUsed(Entry entry) {
    return entry != null && !entry.equals(List.copyOf(there.values()).get(there.size() - 1));
  }

  /** Whether the step can be done over what an interrupted run of it left. */
  private static boolean canBeDoneOver(Step step, Entry entry) {
    return entry != null && entry.step().equals(step) && entry.status() != Entry.Status.UNDOING;
  }

  /** The host as it would look without the steps that were done after one. */
  private Snapshot withoutLater(Step step) {
    Snapshot seen = snapshot;
    boolean later = false;
    for (Map.Entry<String, Entry> entry : there.entrySet()) {
      seen = later ? entry.getValue().step().without(seen) : seen;
      later |= entry.getKey().equals(step.id());
    }
    return seen;
  }

  /** Why a step has to be done; null if it is done. */
  private String why(Step step, Entry entry) {
    if (entry == null) {
      return "";
    }
    if (!entry.step().equals(step)) {
      return changed(entry.step().describe(), step.describe());
    }
    return switch (entry.status()) {
      case DONE -> {
        Snapshot seen = withoutLater(step);
        yield step.isDone(seen) ? null : step.whyNotDone(seen);
      }
      case BEGUN -> "was interrupted";
      case FAILED -> "failed before";
      case UNDOING -> "was being undone";
    };
  }

  /** {@code changed: 256MiB → 512MiB}, if the descriptions have the same form. */
  private static String changed(String before, String after) {
    List<String> were = WORDS.splitAsStream(before).toList();
    List<String> are = WORDS.splitAsStream(after).toList();
    if (were.size() != are.size()) {
      return "changed from: " + before;
    }
    if (were.stream().sorted().toList().equals(are.stream().sorted().toList())) {
      return "changed";
    }
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < are.size(); i++) {
      if (!were.get(i).equals(are.get(i))) {
        String value = are.get(i);
        String key = value.substring(0, value.indexOf('=') + 1);
        boolean same = were.get(i).startsWith(key);
        differences.add(were.get(i) + " → " + (same ? value.substring(key.length()) : value));
      }
    }
    return differences.isEmpty() ? "changed" : "changed: " + String.join(", ", differences);
  }

  private String whyUndo(Entry entry) {
    String id = entry.step().id();
    boolean stays = wanted.stream().anyMatch(step -> step.id().equals(id));
    return stays ? "" : "no longer in the descriptor";
  }

  /** The steps to undo, in order, without those that leave nothing. */
  List<Action> undo() {
    return undo.stream().filter(a -> a.step().leavesSomething()).toList();
  }

  /** The steps to do, in order. */
  List<Action> todo() {
    return todo;
  }
}
