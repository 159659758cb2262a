package graft.comparison.statistics;

import java.util.List;
import java.util.Optional;

/**
 * The ratio of a time to the baseline's: 1 means equally long, 1.2 a fifth longer. For a rate, the
 * ratio is that of the baseline's rate to this one, so that a higher overhead is always worse.
 *
 * <p>Each observation is a pair from one block, and resampling selects blocks, so that a
 * disturbance of a whole block cancels out.
 *
 * @param interval empty for fewer than three pairs
 */
public record Overhead(double ratio, Optional<Interval> interval, int pairs) {

  /** One figure's observations, block by block: the same index is the same block. */
  public record Pairs(List<Double> baseline, List<Double> values, boolean rate) {
    double ratio(int[] chosen) {
      double base = Summary.mean(baseline, chosen);
      double value = Summary.mean(values, chosen);
      return rate ? base / value : value / base;
    }
  }

  /** The overhead of one figure, with at least one pair. */
  public static Overhead of(Pairs pairs, Bootstrap bootstrap) {
    return geometricMean(List.of(pairs), bootstrap);
  }

  /** The geometric mean of several figures' ratios; all are observed in the same blocks. */
  public static Overhead geometricMean(List<Pairs> figures, Bootstrap bootstrap) {
    int n = figures.get(0).values().size();
    int[] all = new int[n];
    for (int i = 0; i < n; i++) {
      all[i] = i;
    }
    return new Overhead(
        mean(figures, all), bootstrap.interval(n, chosen -> mean(figures, chosen)), n);
  }

  private static double mean(List<Pairs> figures, int[] chosen) {
    double logs = 0;
    for (Pairs pairs : figures) {
      logs += Math.log(pairs.ratio(chosen));
    }
    return Math.exp(logs / figures.size());
  }
}
