package graft.comparison.report;

import graft.comparison.statistics.Interval;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Lines of CSV (RFC 4180). */
final class Csv {
  private Csv() {}

  /** A line with its end. */
  static String line(List<String> fields) {
    return fields.stream().map(Csv::field).collect(Collectors.joining(",", "", "\r\n"));
  }

  /** A number with nine significant digits. */
  static String number(double value) {
    return String.format(Locale.ROOT, "%.9g", value);
  }

  /** The lower end of an interval; empty if there is none. */
  static String low(Optional<Interval> interval) {
    return interval.map(i -> number(i.low())).orElse("");
  }

  /** The upper end of an interval; empty if there is none. */
  static String high(Optional<Interval> interval) {
    return interval.map(i -> number(i.high())).orElse("");
  }

  private static String field(String text) {
    return text.matches("[^,\"\r\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
