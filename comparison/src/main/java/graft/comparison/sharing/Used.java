package graft.comparison.sharing;

import graft.comparison.results.Measurement;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.DoubleSupplier;

/**
 * What several busy programs got of a GPU.
 *
 * @param seconds the GPU time of each program; null for one that failed
 */
record Used(List<Double> seconds) {
  static Used of(Measurement measurement) {
    return new Used(measurement.samples());
  }

  /** Whether no program failed, and any got something. */
  boolean isComplete() {
    return !hasFailed() && sum() > 0;
  }

  private boolean hasFailed() {
    return seconds.stream().anyMatch(Objects::isNull);
  }

  private double sum() {
    return seconds.stream().mapToDouble(Double::doubleValue).sum();
  }

  private OptionalDouble ifComplete(DoubleSupplier figure) {
    return isComplete() ? OptionalDouble.of(figure.getAsDouble()) : OptionalDouble.empty();
  }

  /** The GPU time of all programs together. */
  OptionalDouble total() {
    return ifComplete(this::sum);
  }

  /** The GPU time of all programs together, in percent of the time that was measured. */
  OptionalDouble inUse(double measured) {
    return hasFailed() ? OptionalDouble.empty() : OptionalDouble.of(100 * sum() / measured);
  }

  /** What a program got, in percent of what all of them got. */
  OptionalDouble percent(int program) {
    return ifComplete(() -> 100 * seconds.get(program) / sum());
  }

  /** The largest difference between a program's part and what it asked for, in points. */
  OptionalDouble error(List<Double> asked) {
    return ifComplete(
        () -> {
          double most = 0;
          for (int i = 0; i < asked.size(); i++) {
            most = Math.max(most, Math.abs(percent(i).getAsDouble() - asked.get(i)));
          }
          return most;
        });
  }

  /** The largest difference between a program's part and what it asked for, in percent of that. */
  OptionalDouble relativeError(List<Double> asked) {
    return ifComplete(
        () -> {
          double most = 0;
          for (int i = 0; i < asked.size(); i++) {
            double error = Math.abs(percent(i).getAsDouble() - asked.get(i));
            most = Math.max(most, 100 * error / asked.get(i));
          }
          return most;
        });
  }

  /** Jain's index of fairness (R. Jain et al., DEC-TR-301, 1984): 1 if all got the same. */
  OptionalDouble fairness() {
    return ifComplete(
        () -> {
          double squares = seconds.stream().mapToDouble(s -> s * s).sum();
          return sum() * sum() / (seconds.size() * squares);
        });
  }
}
