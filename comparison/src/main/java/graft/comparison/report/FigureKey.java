package graft.comparison.report;

import graft.comparison.run.Figure;

/** A figure of a case: the same in every setting. */
public record FigureKey(String workload, String run, String figure, long size, String unit) {
  public boolean isRate() {
    return Figure.isRate(unit);
  }

  public boolean isCompared() {
    return Figure.isCompared(unit);
  }

  /** For people: {@code kernels: walsh}. */
  public String label() {
    String name = figure + (size > 0 ? ", " + Numbers.size(size) : "");
    return run + ": " + name;
  }
}
