package graft.comparison.statistics;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.commons.statistics.descriptive.Mean;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.descriptive.Quantile;
import org.apache.commons.statistics.descriptive.StandardDeviation;

/**
 * The statistics of several observations of one quantity.
 *
 * @param interval the confidence interval of the mean; empty for fewer than three observations
 * @param outliers the observations outside Tukey's fences (1.5 times the interquartile range beyond
 *     the quartiles); the statistics include them
 */
public record Summary(
    int count,
    double mean,
    double median,
    double deviation,
    Optional<Interval> interval,
    List<Boolean> outliers) {
  private static final int FEWEST_FOR_FENCES = 5;

  /** Summarizes observations, at least one. */
  public static Summary of(List<Double> observed, Bootstrap bootstrap) {
    double[] values = observed.stream().mapToDouble(Double::doubleValue).toArray();
    double deviation = values.length < 2 ? 0 : StandardDeviation.of(values).getAsDouble();
    return new Summary(
        values.length,
        Mean.of(values).getAsDouble(),
        median(observed),
        deviation,
        bootstrap.interval(values.length, chosen -> mean(observed, chosen)),
        outliers(values));
  }

  /** The median of values, at least one. */
  public static double median(List<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("there is no value to take the median of");
    }
    return Median.withDefaults()
        .evaluate(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  static double mean(List<Double> values, int[] chosen) {
    double sum = 0;
    for (int index : chosen) {
      sum += values.get(index);
    }
    return sum / chosen.length;
  }

  private static List<Boolean> outliers(double[] values) {
    if (values.length < FEWEST_FOR_FENCES) {
      return Arrays.stream(values).mapToObj(value -> false).toList();
    }
    double[] quartiles = Quantile.withDefaults().evaluate(values, 0.25, 0.75);
    double reach = 1.5 * (quartiles[1] - quartiles[0]);
    return Arrays.stream(values)
        .mapToObj(value -> value < quartiles[0] - reach || value > quartiles[1] + reach)
        .toList();
  }
}
