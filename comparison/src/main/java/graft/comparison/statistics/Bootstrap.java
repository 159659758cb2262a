package graft.comparison.statistics;

import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import org.apache.commons.statistics.descriptive.Quantile;
import org.apache.commons.statistics.distribution.NormalDistribution;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * 95% confidence intervals by resampling.
 *
 * <p>The plain percentile interval is too narrow for few observations. This class computes the
 * expanded percentile interval of T. Hesterberg, "What Teachers Should Know About the Bootstrap"
 * (2015), section 5.3: its percentiles are moved outwards according to Student's t and the factor
 * sqrt(n/(n-1)), so that for the mean of normally distributed values it is about as wide as the t
 * interval.
 */
public final class Bootstrap {
  private static final int RESAMPLES = 2000;
  private static final double TAIL = 0.025;
  private static final int FEWEST = 3;

  private final long seed;

  /** Creates a bootstrap whose random generator starts from this seed for each interval. */
  public Bootstrap(long seed) {
    this.seed = seed;
  }

  /**
   * The interval of a statistic of n observations; empty for fewer than three.
   *
   * @param statistic computes the statistic of the observations with these indices, which may
   *     repeat
   */
  public Optional<Interval> interval(int n, ToDoubleFunction<int[]> statistic) {
    if (n < FEWEST) {
      return Optional.empty();
    }
    SplittableRandom random = new SplittableRandom(seed);
    double[] values = new double[RESAMPLES];
    int[] chosen = new int[n];
    for (int i = 0; i < RESAMPLES; i++) {
      for (int k = 0; k < n; k++) {
        chosen[k] = random.nextInt(n);
      }
      values[i] = statistic.applyAsDouble(chosen);
    }
    double t = TDistribution.of(n - 1).inverseCumulativeProbability(TAIL);
    double tail = NormalDistribution.of(0, 1).cumulativeProbability(Math.sqrt(n / (n - 1.0)) * t);
    double[] bounds = Quantile.withDefaults().evaluate(values, tail, 1 - tail);
    return Optional.of(new Interval(bounds[0], bounds[1]));
  }
}
