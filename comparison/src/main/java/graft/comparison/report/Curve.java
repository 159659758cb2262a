package graft.comparison.report;

import graft.comparison.statistics.Interval;
import java.util.List;
import java.util.Optional;

/** One setting's values over sizes or counts. */
record Curve(String setting, List<Point> points) {
  /** A value with its confidence interval. */
  record Point(double x, double y, Optional<Interval> interval) {}
}
