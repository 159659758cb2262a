package graft.deployment;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** A plan by objects: for each guest, server, network and device what becomes of its settings. */
public final class PlanDiff {
  private final Plan plan;
  private final List<ChangedObject> objects = new ArrayList<>();

  /**
   * A setting of a step with another value.
   *
   * @param setting its path: {@code define.xml}
   * @param before the value that was applied; null if there was none
   * @param after the value that will be applied; null if there will be none
   */
  public record ChangedSetting(String setting, Object before, Object after) {}

  /**
   * A guest, a server, a network or a device.
   *
   * @param name {@code guest alice}
   * @param change {@code add}, {@code change} or {@code remove}
   * @param consequence what it means, in words; may be empty
   * @param done what is done that was not there, each in words
   * @param undone what is undone and not done again
   * @param again what is done again without a change, with the reason where there is one
   */
  public record ChangedObject(
      String name,
      String change,
      String consequence,
      List<ChangedSetting> settings,
      List<String> done,
      List<String> undone,
      List<String> again) {}

  /** What a plan changes of what the journal records. */
  public PlanDiff(Plan plan, JournalState journal) {
    this.plan = plan;
    Set<Chain> chains = new LinkedHashSet<>();
    plan.actions().forEach(action -> chains.add(action.step().chain()));
    chains.forEach(chain -> objects.add(object(chain, journal)));
  }

  private ChangedObject object(Chain chain, JournalState journal) {
    List<ChangedSetting> settings = new ArrayList<>();
    List<String> done = new ArrayList<>();
    List<String> undone = new ArrayList<>();
    List<String> again = new ArrayList<>();
    List<Action> own = plan.actions().stream().filter(a -> a.step().chain().equals(chain)).toList();
    for (Action action : own) {
      Step step = action.step();
      Entry entry = journal.entries().get(step.id());
      if (action.kind() == Action.Kind.UNDO) {
        if (own.stream().noneMatch(a -> isDone(a, step.id()))) {
          undone.add(step.describe());
        }
      } else if (entry == null) {
        done.add(step.describe());
      } else if (entry.step().equals(step)) {
        again.add(step.describe() + (action.why().isEmpty() ? "" : " (" + action.why() + ")"));
      } else {
        compare(step.name(), StepCodec.write(entry.step()), StepCodec.write(step), settings);
      }
    }
    boolean there =
        journal.entries().values().stream().anyMatch(e -> e.step().chain().equals(chain));
    boolean stays = own.stream().anyMatch(a -> a.kind() == Action.Kind.DO);
    return new ChangedObject(
        chain.toString(),
        !there ? "add" : stays || undone.size() < size(chain, journal) ? "change" : "remove",
        plan.meaning(chain),
        settings,
        done,
        undone,
        again);
  }

  private static boolean isDone(Action action, String id) {
    return action.kind() == Action.Kind.DO && action.step().id().equals(id);
  }

  /** How many of its steps leave something. */
  private static long size(Chain chain, JournalState journal) {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(step -> step.chain().equals(chain) && step.leavesSomething())
        .count();
  }

  private static void compare(
      String path, Object before, Object after, List<ChangedSetting> settings) {
    if (before instanceof Map<?, ?> was && after instanceof Map<?, ?> is) {
      Set<Object> keys = new LinkedHashSet<>(was.keySet());
      keys.addAll(is.keySet());
      keys.forEach(key -> compare(path + "." + key, was.get(key), is.get(key), settings));
    } else if (before instanceof List<?> was
        && after instanceof List<?> is
        && was.size() == is.size()) {
      for (int i = 0; i < was.size(); i++) {
        compare(path + "[" + i + "]", was.get(i), is.get(i), settings);
      }
    } else if (!Objects.equals(before, after)) {
      settings.add(new ChangedSetting(path, before, after));
    }
  }

  public boolean isEmpty() {
    return objects.isEmpty();
  }

  public List<ChangedObject> objects() {
    return List.copyOf(objects);
  }

  /** As text; the lines of long values are compared. */
  public String toText() {
    if (isEmpty()) {
      return plan.deployment() + ": no difference\n";
    }
    StringBuilder text =
        new StringBuilder(
            plan.deployment() + (plan.uri().isEmpty() ? "" : " on " + plan.uri()) + "\n");
    for (ChangedObject object : objects) {
      String sign =
          switch (object.change()) {
            case "add" -> "+ ";
            case "remove" -> "- ";
            default -> "~ ";
          };
      text.append(sign).append(object.name());
      text.append(object.consequence().isEmpty() ? "" : ": " + object.consequence()).append('\n');
      object.settings().forEach(setting -> text.append(setting(setting)));
      object.undone().forEach(line -> text.append("    - ").append(line).append('\n'));
      object.done().forEach(line -> text.append("    + ").append(line).append('\n'));
      object.again().forEach(line -> text.append("    again: ").append(line).append('\n'));
    }
    return text.toString();
  }

  private static String setting(ChangedSetting setting) {
    String before = String.valueOf(setting.before());
    String after = String.valueOf(setting.after());
    if (!before.contains("\n") && !after.contains("\n")) {
      return "    " + setting.setting() + ": " + word(before) + " → " + word(after) + "\n";
    }
    StringBuilder text = new StringBuilder("    " + setting.setting() + ":\n");
    for (String line : LineDiff.of(before.lines().toList(), after.lines().toList())) {
      text.append("      ").append(line).append('\n');
    }
    return text.toString();
  }

  private static String word(String value) {
    return value.equals("null") ? "none" : value;
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", plan.deployment());
    tree.put("uri", plan.uri());
    List<Object> list = new ArrayList<>();
    for (ChangedObject object : objects) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("object", object.name());
      one.put("change", object.change());
      one.put("consequence", object.consequence());
      List<Object> settings = new ArrayList<>();
      for (ChangedSetting setting : object.settings()) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("setting", setting.setting());
        values.put("before", setting.before());
        values.put("after", setting.after());
        settings.add(values);
      }
      one.put("settings", settings);
      one.put("done", object.done());
      one.put("undone", object.undone());
      one.put("again", object.again());
      list.add(one);
    }
    tree.put("objects", list);
    tree.put("deletedData", plan.deletedData());
    return tree;
  }
}
