package graft.cli.ui;

import java.util.List;
import java.util.Map;

/**
 * Values of servers and guests as the page may show them. A guest can claim any name, and a server
 * that is not sound may answer anything: a value of another type than expected is unknown, and a
 * long text is cut. What is unknown is null, and never 0.
 */
final class Cells {
  private static final int MOST_CHARACTERS = 300;

  private Cells() {}

  /** A text of at most 300 characters; null if the value is none. */
  static String text(Object value) {
    if (!(value instanceof String text)) {
      return null;
    }
    return text.length() > MOST_CHARACTERS ? text.substring(0, MOST_CHARACTERS) + "..." : text;
  }

  /** A finite number; null if the value is none. */
  static Number number(Object value) {
    return value instanceof Number number && Double.isFinite(number.doubleValue()) ? number : null;
  }

  static Boolean truth(Object value) {
    return value instanceof Boolean truth ? truth : null;
  }

  /** A part from 0 to 1 of the percentage; null if the value is no number. */
  static Double part(Object percent) {
    Number number = number(percent);
    return number == null ? null : number.doubleValue() / 100;
  }

  /** The values of the list that are objects; none if the value is no list. */
  static List<Map<?, ?>> objects(Object value) {
    return value instanceof List<?> list
        ? list.stream()
            .filter(Map.class::isInstance)
            .<Map<?, ?>>map(each -> (Map<?, ?>) each)
            .toList()
        : List.of();
  }

  /** The texts of a list; none if the value is no list. */
  static List<String> texts(Object value) {
    return value instanceof List<?> list
        ? list.stream().filter(String.class::isInstance).map(Cells::text).toList()
        : List.of();
  }

  /** The sum; null if one of the values is unknown, or there is none. */
  static Double sum(List<? extends Number> values) {
    return values.isEmpty() || values.contains(null)
        ? null
        : Double.valueOf(values.stream().mapToDouble(Number::doubleValue).sum());
  }
}
