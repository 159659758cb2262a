package graft.comparison.report;

import java.util.List;

/**
 * The colours and marks of settings. The colours are Okabe and Ito's (2008), which people with
 * colour blindness can tell apart; the marks distinguish settings in greyscale print.
 */
final class Palette {
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c");

  private final List<String> settings;

  Palette(List<String> settings) {
    this.settings = List.copyOf(settings);
  }

  String colour(String setting) {
    return COLOURS.get(Math.floorMod(settings.indexOf(setting), COLOURS.size()));
  }

  /** The number of the setting's mark, from zero: circle, square, triangle, diamond. */
  int markOf(String setting) {
    return Math.floorMod(settings.indexOf(setting), 4);
  }

  /** Draws the setting's mark. */
  void mark(Html svg, String setting, double x, double y) {
    String colour = colour(setting);
    double r = 3.5;
    switch (markOf(setting)) {
      case 0 -> svg.empty("circle", "cx", x, "cy", y, "r", r, "fill", colour);
      case 1 ->
          svg.empty(
              "rect", "x", x - r, "y", y - r, "width", 2 * r, "height", 2 * r, "fill", colour);
      case 2 ->
          svg.empty("path", "d", path(x, y - 4, x + 4, y + 3.2, x - 4, y + 3.2), "fill", colour);
      default ->
          svg.empty(
              "path", "d", path(x, y - 4.6, x + 4.6, y, x, y + 4.6, x - 4.6, y), "fill", colour);
    }
  }

  private static String path(double... points) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < points.length; i += 2) {
      path.append(i == 0 ? "M" : "L")
          .append(String.format(java.util.Locale.ROOT, "%.1f %.1f", points[i], points[i + 1]));
    }
    return path.append('Z').toString();
  }
}
