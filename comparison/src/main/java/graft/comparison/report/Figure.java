package graft.comparison.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A numbered figure of a report.
 *
 * @param number as the text refers to it, {@code 3} or {@code A3} in the appendix
 * @param name the name of its files without extension; letters, digits and hyphens
 */
record Figure(String number, String name, String title, String caption, Plot plot) {
  private static final double LINE = 15;

  /** The width of a character of a caption; DejaVu Sans, a wide font, needs this much. */
  private static final double CHARACTER = 6.4;

  private String label() {
    return "Figure " + number + ". ";
  }

  /**
   * Writes the figure into a page of HTML.
   *
   * @param kind the class of its element
   */
  void write(Html html, Palette palette, String kind, boolean legend) {
    html.open("figure", "class", kind);
    if (legend) {
      legend(html, palette, plot);
    }
    html.open(
        "svg",
        "viewBox",
        "0 0 " + plot.width() + " " + plot.height(),
        "role",
        "img",
        "aria-label",
        title);
    plot.content(html, palette);
    html.close();
    html.open("figcaption").element("strong", label() + title + ".");
    html.text(caption.isEmpty() ? "" : " " + caption).close().close();
  }

  /** Writes a plot's legend into a page of HTML. */
  static void legend(Html html, Palette palette, Plot plot) {
    html.open("p", "class", "legend");
    for (String name : plot.names()) {
      html.open("span").open("svg", "viewBox", "0 0 14 14", "class", "key");
      plot.key(html, palette, name, 7, 7);
      html.close().text(" " + name).close();
    }
    html.close();
  }

  /** The figure with legend and caption as a drawing that needs no other file. */
  String svg(Palette palette) {
    List<List<String>> legend = Drawing.legendLines(plot.names(), plot.width());
    List<String> text =
        wrapped(label() + title + "." + (caption.isEmpty() ? "" : " " + caption), plot.width());
    double top = legend.size() * Drawing.LEGEND_LINE;
    Html html = new Html();
    Drawing.open(html, plot.width(), top + plot.height() + LINE * text.size() + 10);
    html.element("title", title);
    for (int i = 0; i < legend.size(); i++) {
      Drawing.at(html, 0, i * Drawing.LEGEND_LINE);
      Drawing.legend(html, legend.get(i), (name, x) -> plot.key(html, palette, name, x, 14));
      html.close();
    }
    Drawing.at(html, 0, top);
    plot.content(html, palette);
    html.close();
    for (int i = 0; i < text.size(); i++) {
      html.element("text", text.get(i), "x", 4, "y", top + plot.height() + LINE * (i + 1));
    }
    return html.close().toString();
  }

  private static List<String> wrapped(String text, double width) {
    int most = (int) ((width - 8) / CHARACTER);
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (line.length() > 0 && line.length() + 1 + word.length() > most) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.length() > 0 ? " " : "").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  /** The data as CSV. */
  String csv() {
    StringBuilder out = new StringBuilder();
    plot.data().forEach(line -> out.append(Csv.line(line)));
    return out.toString();
  }

  /** What plot.py needs to draw the figure from its data. */
  Map<String, Object> tree(Palette palette) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("file", name);
    tree.put("number", number);
    tree.put("title", title);
    tree.put("caption", caption);
    tree.putAll(plot.axes());
    List<Object> names = new ArrayList<>();
    for (String key : plot.names()) {
      names.add(
          Map.of("name", key, "colour", plot.colour(palette, key), "marker", palette.markOf(key)));
    }
    tree.put("names", names);
    return tree;
  }
}
