package graft.comparison.report;

import java.util.List;
import java.util.Map;

/** Times divided into parts: one bar for each setting, grouped by case. */
record StackPlot(String title, List<Group> groups) {
  /** The parts of the time in stacking order, with their styles. */
  static final Map<String, String> PARTS =
      Map.of("compute", "#4c78a8", "transfer", "#f2a541", "other", "#c9c9c9");

  static final List<String> ORDER = List.of("compute", "transfer", "other");

  /** The bars of a case. */
  record Group(String label, List<Bar> bars) {}

  /** A setting's milliseconds by part. */
  record Bar(String setting, Map<String, Double> parts) {
    double all() {
      return parts.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  private static final double WIDTH = 820;
  private static final double LEFT = 250;
  private static final double RIGHT = 70;
  private static final double BAR = 15;
  private static final double GAP = 12;
  private static final double TOP = 26;

  void draw(Html html) {
    double height = TOP + 6;
    double longest = 0;
    for (Group group : groups) {
      height += group.bars().size() * BAR + GAP;
      longest = Math.max(longest, group.bars().stream().mapToDouble(Bar::all).max().orElse(0));
    }
    Scale scale = Scale.linear(longest, LEFT, WIDTH - RIGHT);
    html.open(
        "svg",
        "viewBox",
        "0 0 " + WIDTH + " " + height,
        "class",
        "wide",
        "role",
        "img",
        "aria-label",
        title);
    for (double tick : scale.ticks()) {
      double x = scale.at(tick);
      html.empty("line", "x1", x, "x2", x, "y1", TOP - 4, "y2", height - 4, "class", "grid");
      html.element("text", Numbers.tick(tick), "x", x, "y", TOP - 10, "class", "tick middle");
    }
    html.element("text", "ms", "x", WIDTH - 30, "y", TOP - 10, "class", "tick middle");
    double y = TOP + 2;
    for (Group group : groups) {
      double middle = y + group.bars().size() * BAR / 2;
      html.element("text", group.label(), "x", 4, "y", middle + 4, "class", "label");
      for (Bar bar : group.bars()) {
        html.element("text", bar.setting(), "x", LEFT - 8, "y", y + 11, "class", "tick end");
        double x = LEFT;
        for (String part : ORDER) {
          double end = x + scale.at(bar.parts().getOrDefault(part, 0.0)) - LEFT;
          html.empty(
              "rect",
              "x",
              x,
              "y",
              y + 1,
              "width",
              Math.max(0, end - x),
              "height",
              BAR - 2,
              "fill",
              PARTS.get(part));
          x = end;
        }
        html.element("text", Numbers.plain(bar.all()), "x", x + 5, "y", y + 11, "class", "value");
        y += BAR;
      }
      y += GAP;
    }
    html.close();
  }
}
