package graft.comparison.report;

import graft.comparison.statistics.Overhead;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * Ratios to the baseline as bars that begin at the baseline, with their confidence intervals. The
 * axis is logarithmic, so that twice and half the baseline are at equal distances from it.
 *
 * @param yTitle what the labels of the rows are
 */
record OverheadPlot(List<Row> rows, List<String> settings, String baseline, String yTitle)
    implements Plot {
  /** The ratios of one row by setting; a setting without a ratio has no bar. */
  record Row(String label, Map<String, Overhead> overheads) {}

  static final double WIDTH = 820;
  private static final double LEFT = 250;
  private static final double RIGHT = 96;
  private static final double BAR = 12;
  private static final double GAP = 9;
  private static final double TOP = 26;
  private static final double BOTTOM = 20;

  @Override
  public double width() {
    return WIDTH;
  }

  @Override
  public double height() {
    double height = TOP + 8 + BOTTOM;
    for (Row row : rows) {
      height += row.overheads().size() * BAR + GAP;
    }
    return height;
  }

  @Override
  public List<String> names() {
    return settings.stream()
        .filter(s -> rows.stream().anyMatch(row -> row.overheads().containsKey(s)))
        .toList();
  }

  private String xTitle() {
    return "time relative to " + baseline + ", logarithmic";
  }

  @Override
  public Map<String, Object> axes() {
    return Map.of("kind", "overheads", "x", xTitle(), "y", yTitle, "logarithmic", true);
  }

  @Override
  public List<List<String>> data() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("row", "setting", "ratio", "low", "high"));
    for (Row row : rows) {
      for (String setting : settings) {
        Overhead overhead = row.overheads().get(setting);
        if (overhead != null) {
          lines.add(
              List.of(
                  row.label(),
                  setting,
                  Csv.number(overhead.ratio()),
                  Csv.low(overhead.interval()),
                  Csv.high(overhead.interval())));
        }
      }
    }
    return lines;
  }

  @Override
  public void content(Html html, Palette palette) {
    double height = height();
    Scale scale = scale();
    for (double tick : ticks(scale)) {
      double x = scale.at(tick);
      String kind = tick == 1 ? "axis" : "grid";
      html.empty("line", "x1", x, "x2", x, "y1", TOP - 4, "y2", height - BOTTOM - 4, "class", kind);
      html.element("text", Numbers.tick(tick) + "×", "x", x, "y", TOP - 10, "class", "tick middle");
    }
    // At the left edge, since the first tick may be where the labels of the rows end.
    html.element("text", yTitle, "x", 4, "y", TOP - 10, "class", "tick");
    double y = TOP + 2;
    for (Row row : rows) {
      double middle = y + row.overheads().size() * BAR / 2;
      html.element("text", row.label(), "x", LEFT - 10, "y", middle + 4, "class", "label end");
      for (String setting : settings) {
        Overhead overhead = row.overheads().get(setting);
        if (overhead != null) {
          bar(html, palette.colour(setting), overhead, scale, y);
          y += BAR;
        }
      }
      y += GAP;
    }
    double middle = (LEFT + WIDTH - RIGHT) / 2;
    html.element("text", xTitle(), "x", middle, "y", height - 8, "class", "tick middle");
  }

  private static void bar(Html html, String colour, Overhead overhead, Scale scale, double y) {
    double one = scale.at(1);
    double end = scale.at(overhead.ratio());
    html.empty(
        "rect",
        "x",
        Math.min(one, end),
        "y",
        y + 1,
        "width",
        Math.max(0.8, Math.abs(end - one)),
        "height",
        BAR - 2,
        "fill",
        colour,
        "opacity",
        0.85);
    double[] right = {Math.max(one, end)};
    overhead
        .interval()
        .ifPresent(
            i -> {
              double middle = y + BAR / 2;
              double low = scale.at(i.low());
              double high = scale.at(i.high());
              html.empty(
                  "line", "x1", low, "x2", high, "y1", middle, "y2", middle, "class", "whisker");
              for (double x : new double[] {low, high}) {
                html.empty(
                    "line",
                    "x1",
                    x,
                    "x2",
                    x,
                    "y1",
                    middle - 3,
                    "y2",
                    middle + 3,
                    "class",
                    "whisker");
              }
              right[0] = Math.max(right[0], high);
            });
    html.element(
        "text",
        Numbers.overhead(overhead.ratio()),
        "x",
        right[0] + 5,
        "y",
        y + BAR - 2.5,
        "class",
        "value");
  }

  private Scale scale() {
    double[] all =
        rows.stream()
            .flatMap(row -> row.overheads().values().stream())
            .flatMapToDouble(
                o ->
                    o.interval()
                        .map(i -> DoubleStream.of(o.ratio(), i.low(), i.high()))
                        .orElse(DoubleStream.of(o.ratio())))
            .toArray();
    double low = Math.min(0.8, DoubleStream.of(all).min().orElse(1) / 1.05);
    double high = Math.max(1.25, DoubleStream.of(all).max().orElse(1) * 1.05);
    return new Scale(low, high, true, LEFT, WIDTH - RIGHT);
  }

  private static List<Double> ticks(Scale scale) {
    double[] fine = {0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5};
    double[] coarse = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
    double[] middle = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20};
    double span = scale.high() / scale.low();
    return DoubleStream.of(span < 5 ? fine : span < 60 ? middle : coarse)
        .filter(t -> t >= scale.low() && t <= scale.high())
        .boxed()
        .toList();
  }
}
