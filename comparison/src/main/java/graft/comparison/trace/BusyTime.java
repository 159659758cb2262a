package graft.comparison.trace;

import java.util.Map;
import java.util.TreeMap;

/** The time in which at least one of several pieces of work was under way. */
final class BusyTime {
  /** Times in which there was work, by their beginnings; they do not touch each other. */
  private final TreeMap<Double, Double> spans = new TreeMap<>();

  private double closed;

  /** Without this, a long trace would keep a span for each kernel. */
  private static final int MOST_SPANS = 1_000_000;

  /** Adds a piece of work. */
  void add(double start, double end) {
    double from = start;
    double to = end;
    Map.Entry<Double, Double> before = spans.floorEntry(from);
    if (before != null && before.getValue() >= from) {
      from = before.getKey();
      to = Math.max(to, before.getValue());
    }
    for (Map.Entry<Double, Double> next = spans.ceilingEntry(from);
        next != null && next.getKey() <= to;
        next = spans.ceilingEntry(from)) {
      to = Math.max(to, next.getValue());
      spans.remove(next.getKey());
    }
    spans.put(from, to);
    if (spans.size() > MOST_SPANS) {
      Map.Entry<Double, Double> oldest = spans.pollFirstEntry();
      closed += oldest.getValue() - oldest.getKey();
    }
  }

  /** Returns the sum, in the unit of the times. */
  double total() {
    double sum = closed;
    for (Map.Entry<Double, Double> span : spans.entrySet()) {
      sum += span.getValue() - span.getKey();
    }
    return sum;
  }
}
