package graft.comparison.report;

import java.util.List;

/** The parts that self-contained drawings of several plots have in common. */
final class Drawing {
  /** The height of a legend, and of a line of text. */
  static final double LEGEND = 30;

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
    html.open("style").raw(Html.style()).close();
    html.empty("rect", "width", "100%", "height", "100%", "fill", "white");
  }

  /** Draws the settings' marks and names in one line. */
  static void legend(Html html, Palette palette, List<String> settings) {
    double x = 10;
    for (String setting : settings) {
      palette.mark(html, setting, x, 14);
      html.element("text", setting, "x", x + 9, "y", 18);
      x += 40 + 7 * setting.length();
    }
  }

  /** Opens a group that is moved to a place of the drawing. */
  static void at(Html html, double x, double y) {
    html.open("g", "transform", "translate(" + x + "," + y + ")");
  }
}
