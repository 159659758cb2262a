package graft.comparison.report;

import graft.comparison.statistics.Interval;
import java.util.Locale;

/** Formats numbers for display. */
final class Numbers {
  private Numbers() {}

  /** Three significant digits, without an exponent. */
  static String plain(double value) {
    double size = Math.abs(value);
    if (size == 0) {
      return "0";
    }
    int digits = (int) Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(size))));
    return String.format(Locale.ROOT, "%,." + digits + "f", value).replace(',', '\u2009');
  }

  /** A number on an axis, without trailing zeros. */
  static String tick(double value) {
    String text = plain(value);
    return text.contains(".") ? text.replaceFirst("\\.?0+$", "") : text;
  }

  /**
   * A ratio as a difference, {@code +20%} or {@code -3.1%}; from tenfold on as {@code 12 times}.
   */
  static String overhead(double ratio) {
    double percent = (ratio - 1) * 100;
    if (ratio >= 10) {
      return plain(ratio) + " times";
    }
    String form = Math.abs(percent) < 10 ? "%+.1f%%" : "%+.0f%%";
    return String.format(Locale.ROOT, form, percent).replace('-', '\u2212');
  }

  /** Both ends of a ratio's interval. */
  static String overheads(Interval interval) {
    return overhead(interval.low()) + " to " + overhead(interval.high());
  }

  /** A number of bytes in units of powers of 1024. */
  static String size(long bytes) {
    if (bytes < 1024) {
      return Long.toString(bytes);
    }
    return bytes < 1024 * 1024 ? bytes / 1024 + " KiB" : bytes / (1024 * 1024) + " MiB";
  }
}
