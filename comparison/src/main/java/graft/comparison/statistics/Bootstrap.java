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
 * <p>The plain percentile interval is too narrow for few observations. This is the expanded one of
 * T. Hesterberg, "What Teachers Should Know About the Bootstrap" (2015), section 5.3: its
 * percentiles are moved outwards as Student's t and the factor sqrt(n/(n-1)) say, so that for a
 * mean of normal values it is about as wide as the t interval.
 */
public final class Bootstrap {
  private static final int RESAMPLES = 2000;
  private static final double TAIL = 0.025;
  private static final int FEWEST = 3;

  private final long seed;

  /** Resamples by a generator that begins with this seed each time. */
  public Bootstrap(long seed) {
    this.seed = seed;
  }

  /**
   * The interval of a statistic of n observations; empty for fewer than three.
   *
   * @param statistic computes it of the observations of these indices, which may repeat
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
