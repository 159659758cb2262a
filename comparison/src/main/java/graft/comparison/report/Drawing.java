package graft.comparison.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;

/** The parts that self-contained drawings of several plots have in common. */
final class Drawing {
  /** The height of a legend, and of a line of text. */
  static final double LEGEND = 30;

  /** The height of a line of a legend. */
  static final double LEGEND_LINE = 22;

  private static final String STYLE = Html.resource("figure.css");

  private Drawing() {}

  /** Opens a drawing on white ground, with its style sheet. */
  static void open(Html html, double width, double height) {
    html.open(
        "svg",
        "xmlns",
        "http://www.w3.org/2000/svg",
        "width",
        width,
        "height",
        height,
        "viewBox",
        "0 0 " + width + " " + height,
        "font-family",
        "sans-serif");
    html.open("style").raw(STYLE).close();
    html.empty("rect", "width", "100%", "height", "100%", "fill", "white");
  }

  /** Draws the settings' marks and names in one line. */
  static void legend(Html html, Palette palette, List<String> settings) {
    legend(html, settings, (setting, x) -> palette.mark(html, setting, x, 14));
  }

  /**
   * Draws marks and names in one line.
   *
   * @param mark draws the mark of a name around this abscissa
   */
  static void legend(Html html, List<String> names, BiConsumer<String, Double> mark) {
    double x = 10;
    for (String name : names) {
      mark.accept(name, x);
      html.element("text", name, "x", x + 9, "y", 18);
      x += legendWidth(name);
    }
  }

  private static double legendWidth(String name) {
    return 40 + 7.0 * name.length();
  }

  /** The names, as many in a line as fit into the width. */
  static List<List<String>> legendLines(Collection<String> names, double width) {
    List<List<String>> lines = new ArrayList<>();
    double x = width;
    for (String name : names) {
      if (x + legendWidth(name) > width) {
        lines.add(new ArrayList<>());
        x = 10;
      }
      lines.get(lines.size() - 1).add(name);
      x += legendWidth(name);
    }
    return lines;
  }

  /** Opens a group that is moved to a place of the drawing. */
  static void at(Html html, double x, double y) {
    html.open("g", "transform", "translate(" + x + "," + y + ")");
  }
}
