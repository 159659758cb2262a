package graft.comparison.report;

import graft.comparison.results.Measurement;

/** The key of a figure of a case, which is the same in every setting. */
public record FigureKey(String workload, String run, String figure, long size, String unit) {
  public boolean isRate() {
    return Measurement.isRate(unit);
  }

  public boolean isCompared() {
    return Measurement.isCompared(unit);
  }

  /** The displayed label: {@code kernels: walsh}. */
  public String label() {
    String name = figure + (size > 0 ? ", " + Numbers.size(size) : "");
    return run + ": " + name;
  }
}
