package graft.comparison.statistics;

/** A 95% confidence interval. */
public record Interval(double low, double high) {
  /** Whether the value is inside, bounds included. */
  public boolean contains(double value) {
    return low <= value && value <= high;
  }
}
