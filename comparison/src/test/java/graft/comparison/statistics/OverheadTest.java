package graft.comparison.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OverheadTest {
  private static final int TRIALS = 300;

  /** Generated times of both sides with a known overhead; a slow block slows both sides. */
  private static Overhead.Pairs generated(double overhead, int blocks, Random random) {
    List<Double> baseline = new ArrayList<>();
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      double drift = 1 + 0.3 * random.nextDouble();
      baseline.add(100 * drift * (1 + 0.02 * random.nextGaussian()));
      values.add(100 * overhead * drift * (1 + 0.02 * random.nextGaussian()));
    }
    return new Overhead.Pairs(baseline, values, false);
  }

  private static double coverage(double overhead, int blocks) {
    Random random = new Random(42);
    int inside = 0;
    for (int i = 0; i < TRIALS; i++) {
      Overhead found = Overhead.of(generated(overhead, blocks, random), new Bootstrap(i));
      inside += found.interval().orElseThrow().contains(overhead) ? 1 : 0;
    }
    return inside / (double) TRIALS;
  }

  @Test
  void findsAnOverheadThatWasPutInWithinItsInterval() {
    assertThat(coverage(1.2, 10)).isBetween(0.92, 0.99);
    assertThat(coverage(0.7, 20)).isBetween(0.92, 0.99);
  }

  @Test
  void isNotSurerThanFewBlocksAllow() {
    assertThat(coverage(1.2, 4)).isGreaterThan(0.85);
  }

  @Test
  void cancelsWhatSlowsAWholeBlockDown() {
    Overhead found = Overhead.of(generated(1.2, 10, new Random(1)), new Bootstrap(1));
    Interval interval = found.interval().orElseThrow();
    assertThat(found.ratio()).isBetween(1.17, 1.23);
    assertThat(interval.high() - interval.low()).isLessThan(0.08); // the drift alone is 0.3
  }

  @Test
  void ofARateTurnsTheRatioRound() {
    Overhead.Pairs half =
        new Overhead.Pairs(List.of(10.0, 10.0, 10.0), List.of(5.0, 5.0, 5.0), true);
    assertThat(Overhead.of(half, new Bootstrap(1)).ratio()).isEqualTo(2);
  }

  @Test
  void meansRatiosGeometrically() {
    Overhead.Pairs twice = new Overhead.Pairs(List.of(1.0), List.of(2.0), false);
    Overhead.Pairs half = new Overhead.Pairs(List.of(1.0), List.of(0.5), false);
    Overhead mean = Overhead.geometricMean(List.of(twice, half), new Bootstrap(1));
    assertThat(mean.ratio()).isEqualTo(1);
    assertThat(mean.interval()).as("of one block").isEmpty();
  }

  @Test
  void showsOutliersAndKeepsThem() {
    List<Double> values = List.of(10.0, 10.1, 9.9, 10.0, 10.2, 30.0);
    Summary summary = Summary.of(values, new Bootstrap(1));
    assertThat(summary.outliers()).containsExactly(false, false, false, false, false, true);
    assertThat(summary.mean()).isBetween(13.3, 13.4);
    assertThat(summary.median()).isBetween(10.0, 10.1);
  }
}
