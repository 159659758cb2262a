package graft.comparison.report;

import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Times divided into parts: one bar for each setting, grouped by case. A whisker at the end of a
 * part is the confidence interval of that part's mean.
 */
record StackPlot(List<Group> groups) implements Plot {
  /** The parts of the time in stacking order, with their styles. */
  private static final Map<String, String> PARTS =
      Map.of("compute", "#4c78a8", "transfer", "#f2a541", "other", "#c9c9c9");

  static final List<String> ORDER = List.of("compute", "transfer", "other");

  /** The bars of a case. */
  record Group(String label, List<Bar> bars) {}

  /**
   * A setting's milliseconds by part.
   *
   * @param flag a remark beside the bar; empty if there is none
   */
  record Bar(String setting, Map<String, Summary> parts, String flag) {
    double all() {
      return parts.values().stream().mapToDouble(Summary::mean).sum();
    }
  }

  private static final String X_TITLE = "milliseconds";
  private static final String Y_TITLE = "case, setting";
  private static final double WIDTH = 820;
  private static final double LEFT = 250;
  private static final double RIGHT = 120;
  private static final double BAR = 15;
  private static final double GAP = 12;
  private static final double TOP = 26;
  private static final double BOTTOM = 20;

  @Override
  public double width() {
    return WIDTH;
  }

  @Override
  public double height() {
    double height = TOP + 6 + BOTTOM;
    for (Group group : groups) {
      height += group.bars().size() * BAR + GAP;
    }
    return height;
  }

  @Override
  public List<String> names() {
    return ORDER.stream()
        .filter(
            part ->
                groups.stream()
                    .flatMap(group -> group.bars().stream())
                    .anyMatch(bar -> bar.parts().containsKey(part)))
        .toList();
  }

  @Override
  public String colour(Palette palette, String name) {
    return PARTS.get(name);
  }

  @Override
  public void key(Html html, Palette palette, String name, double x, double y) {
    html.empty("rect", "x", x - 5, "y", y - 5, "width", 10, "height", 10, "fill", PARTS.get(name));
  }

  @Override
  public Map<String, Object> axes() {
    return Map.of("kind", "stack", "x", X_TITLE, "y", Y_TITLE, "logarithmic", false);
  }

  @Override
  public List<List<String>> data() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("case", "setting", "part", "ms", "low", "high", "flag"));
    for (Group group : groups) {
      for (Bar bar : group.bars()) {
        for (String part : ORDER) {
          Summary summary = bar.parts().get(part);
          if (summary != null) {
            lines.add(
                List.of(
                    group.label(),
                    bar.setting(),
                    part,
                    Csv.number(summary.mean()),
                    Csv.low(summary.interval()),
                    Csv.high(summary.interval()),
                    bar.flag()));
          }
        }
      }
    }
    return lines;
  }

  @Override
  public void content(Html html, Palette palette) {
    double longest =
        groups.stream()
            .flatMap(group -> group.bars().stream())
            .mapToDouble(Bar::all)
            .max()
            .orElse(0);
    Scale scale = Scale.linear(longest, LEFT, WIDTH - RIGHT);
    double bottom = height() - BOTTOM - 4;
    for (double tick : scale.ticks()) {
      double x = scale.at(tick);
      html.empty("line", "x1", x, "x2", x, "y1", TOP - 4, "y2", bottom, "class", "grid");
      html.element("text", Numbers.tick(tick), "x", x, "y", TOP - 10, "class", "tick middle");
    }
    html.element("text", Y_TITLE, "x", 4, "y", TOP - 10, "class", "tick");
    double y = TOP + 2;
    for (Group group : groups) {
      double middle = y + group.bars().size() * BAR / 2;
      html.element("text", group.label(), "x", 4, "y", middle + 4, "class", "label");
      for (Bar bar : group.bars()) {
        html.element("text", bar.setting(), "x", LEFT - 8, "y", y + 11, "class", "tick end");
        bar(html, bar, scale, y);
        y += BAR;
      }
      y += GAP;
    }
    double middle = (LEFT + WIDTH - RIGHT) / 2;
    html.element("text", X_TITLE, "x", middle, "y", height() - 8, "class", "tick middle");
  }

  private static void bar(Html html, Bar bar, Scale scale, double y) {
    double before = 0;
    double right = LEFT;
    for (String part : ORDER) {
      Summary summary = bar.parts().get(part);
      if (summary == null) {
        continue;
      }
      double x = scale.at(before);
      double end = scale.at(before + summary.mean());
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
      double whisker = y + BAR * (ORDER.indexOf(part) + 1) / (ORDER.size() + 1);
      right = Math.max(right, Math.max(end, whisker(html, scale, before, summary, whisker)));
      before += summary.mean();
    }
    html.element("text", Numbers.plain(bar.all()), "x", right + 5, "y", y + 11, "class", "value");
    if (!bar.flag().isEmpty()) {
      html.element("text", bar.flag(), "x", right + 48, "y", y + 11, "class", "flag");
    }
  }

  /** Draws an interval around the end of a part, and returns its right end. */
  private static double whisker(Html html, Scale scale, double before, Summary part, double y) {
    Optional<Interval> interval = part.interval();
    if (interval.isEmpty()) {
      return 0;
    }
    double low = scale.at(before + interval.get().low());
    double high = scale.at(before + interval.get().high());
    html.empty("line", "x1", low, "x2", high, "y1", y, "y2", y, "class", "whisker");
    return high;
  }
}
