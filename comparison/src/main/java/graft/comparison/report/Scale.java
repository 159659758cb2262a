package graft.comparison.report;

import java.util.ArrayList;
import java.util.List;

/** Maps values to positions on an axis. */
record Scale(double low, double high, boolean logarithmic, double from, double to) {

  /** A scale from zero to the highest value, rounded up. */
  static Scale linear(double highest, double from, double to) {
    double step = step(highest <= 0 ? 1 : highest);
    return new Scale(0, step * Math.ceil(highest / step - 1e-9), false, from, to);
  }

  /** A logarithmic scale of whole decades around the values, all of which are above zero. */
  static Scale decades(double lowest, double highest, double from, double to) {
    double low = Math.pow(10, Math.floor(Math.log10(lowest)));
    double high = Math.pow(10, Math.ceil(Math.log10(highest)));
    return new Scale(low, high > low ? high : low * 10, true, from, to);
  }

  double at(double value) {
    double part =
        logarithmic
            ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
            : (value - low) / (high - low);
    return from + part * (to - from);
  }

  /** The values at which grid lines are drawn: about five, or one for each decade. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    if (logarithmic) {
      for (double tick = low; tick <= high * 1.001; tick *= 10) {
        ticks.add(tick);
      }
      return ticks;
    }
    double step = step(high);
    for (int i = 0; i * step <= high * 1.001; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private static double step(double highest) {
    double decade = Math.pow(10, Math.floor(Math.log10(highest)));
    double part = highest / decade;
    return decade * (part <= 1.2 ? 0.2 : part <= 3 ? 0.5 : part <= 6 ? 1 : 2);
  }
}
