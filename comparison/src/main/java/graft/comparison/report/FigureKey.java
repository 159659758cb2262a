package graft.comparison.report;

import graft.comparison.results.Measurement;
import graft.comparison.results.State;

/** The key of a figure of a case, which is the same in every setting. */
public record FigureKey(
    String workload, String run, String figure, long size, String unit, State state) {
  /** Whether the figure is of runs with empty caches, which plots and means leave out. */
  public boolean isOfEmptyCaches() {
    return state == State.EMPTY;
  }

  /** The same figure of another case. */
  FigureKey in(String otherRun) {
    return new FigureKey(workload, otherRun, figure, size, unit, state);
  }

  /** Another figure of the same case. */
  FigureKey named(String otherFigure) {
    return new FigureKey(workload, run, otherFigure, size, unit, state);
  }

  public boolean isRate() {
    return Measurement.isRate(unit);
  }

  public boolean isCompared() {
    return Measurement.isCompared(unit);
  }

  /** The displayed label: {@code kernels: walsh}. */
  public String label() {
    String name = figure + (size > 0 ? ", " + Numbers.size(size) : "");
    return run + ": " + name + (isOfEmptyCaches() ? ", caches empty" : "");
  }
}
