package graft.comparison.statistics;

/** Bounds between which a value lies with 95% confidence. */
public record Interval(double low, double high) {
  /** Whether the value is inside, bounds included. */
  public boolean contains(double value) {
    return low <= value && value <= high;
  }
}
