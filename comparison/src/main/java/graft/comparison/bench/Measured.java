package graft.comparison.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A value with its unit.
 *
 * @param unit {@code us}, {@code ms}, {@code GB/s}, {@code 1/s} or a count's name
 */
public record Measured(double value, String unit) {
  /**
   * Reads the lines of the measuring program: figure, bytes, value and unit, between tabs.
   *
   * @throws IllegalArgumentException at a line that is none
   */
  public static Map<Figure, Measured> parse(String lines) {
    Map<Figure, Measured> figures = new LinkedHashMap<>();
    lines
        .lines()
        .forEach(
            line -> {
              String[] fields = line.split("\t", -1);
              if (fields.length != 4) {
                throw new IllegalArgumentException("not a figure: " + line);
              }
              figures.put(
                  new Figure(fields[0], Long.parseLong(fields[1])),
                  new Measured(Double.parseDouble(fields[2]), fields[3]));
            });
    return figures;
  }
}
