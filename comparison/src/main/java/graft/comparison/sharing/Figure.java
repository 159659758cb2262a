package graft.comparison.sharing;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * A figure that was computed from the measurements, beside its goal.
 *
 * @param what the case that was measured
 * @param name what the figure is
 * @param unit its unit, empty for a ratio or an index
 * @param value the figure; empty if a program of the case failed
 * @param natively the same of native processes in the same run; empty if they were not measured
 * @param goal what the figure should be; empty if there is no goal
 * @param isLeast whether the goal is the least good value, and not the most
 */
record Figure(
    Part part,
    String what,
    String name,
    String unit,
    OptionalDouble value,
    OptionalDouble natively,
    OptionalDouble goal,
    boolean isLeast) {

  static Figure of(Part part, String what, String name, String unit, OptionalDouble value) {
    OptionalDouble none = OptionalDouble.empty();
    return new Figure(part, what, name, unit, value, none, none, false);
  }

  Figure beside(OptionalDouble ofNativeProcesses) {
    return new Figure(part, what, name, unit, value, ofNativeProcesses, goal, isLeast);
  }

  Figure atMost(double most) {
    return new Figure(part, what, name, unit, value, natively, OptionalDouble.of(most), false);
  }

  Figure atLeast(double least) {
    return new Figure(part, what, name, unit, value, natively, OptionalDouble.of(least), true);
  }

  boolean hasGoal() {
    return goal.isPresent();
  }

  /** Whether the goal is met; a figure that could not be measured misses it. */
  boolean isMet() {
    return value.isPresent()
        && (isLeast
            ? value.getAsDouble() >= goal.getAsDouble()
            : value.getAsDouble() <= goal.getAsDouble());
  }

  String verdict() {
    return !hasGoal() ? "" : isMet() ? "met" : "missed";
  }

  /** The goal in words, empty if there is none. */
  String goalText() {
    return hasGoal() ? (isLeast ? "at least " : "at most ") + number(goal) : "";
  }

  /** The value in words. */
  String valueText() {
    return value.isPresent() ? number(value) : "failed";
  }

  /** The value of native processes in words, empty if they were not measured. */
  String nativeText() {
    return number(natively);
  }

  private String number(OptionalDouble number) {
    if (number.isEmpty()) {
      return "";
    }
    String form = unit.isEmpty() ? "%.4f" : unit.equals("us") ? "%.0f" : "%.2f";
    return String.format(Locale.ROOT, form, number.getAsDouble());
  }

  Map<String, Object> tree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("part", part.toString());
    tree.put("case", what);
    tree.put("figure", name);
    tree.put("unit", unit);
    tree.put("value", boxed(value));
    tree.put("native", boxed(natively));
    tree.put(isLeast ? "goalAtLeast" : "goalAtMost", boxed(goal));
    tree.put("met", hasGoal() ? isMet() : null);
    return tree;
  }

  private static Double boxed(OptionalDouble number) {
    return number.isPresent() ? number.getAsDouble() : null;
  }
}
