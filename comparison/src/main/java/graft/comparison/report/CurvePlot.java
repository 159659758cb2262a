package graft.comparison.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * A plot of values over sizes or counts, with a line for each setting and whiskers for the
 * confidence intervals.
 *
 * @param xTitle the title of the horizontal axis
 * @param yTitle the title of the vertical axis, with the unit
 * @param logarithmic whether the vertical axis is logarithmic
 * @param xText writes the values on the horizontal axis
 */
record CurvePlot(
    String title,
    String xTitle,
    String yTitle,
    boolean logarithmic,
    List<Curve> curves,
    DoubleFunction<String> xText)
    implements Plot {
  static final double WIDTH = 400;
  static final double HEIGHT = 284;
  private static final double LEFT = 62;
  private static final double RIGHT = 14;
  private static final double TOP = 30;
  private static final double BOTTOM = 54;

  @Override
  public double width() {
    return WIDTH;
  }

  @Override
  public double height() {
    return HEIGHT;
  }

  @Override
  public List<String> names() {
    return curves.stream().map(Curve::setting).toList();
  }

  @Override
  public Map<String, Object> axes() {
    return Map.of("kind", "curves", "x", xTitle, "y", yTitle, "logarithmic", logarithmic);
  }

  @Override
  public List<List<String>> data() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("setting", "x", "y", "low", "high"));
    for (Curve curve : curves) {
      for (Curve.Point point : curve.points()) {
        lines.add(
            List.of(
                curve.setting(),
                Csv.number(point.x()),
                Csv.number(point.y()),
                Csv.low(point.interval()),
                Csv.high(point.interval())));
      }
    }
    return lines;
  }

  @Override
  public void content(Html html, Palette palette) {
    List<Double> xs =
        curves.stream()
            .flatMap(c -> c.points().stream())
            .map(Curve.Point::x)
            .distinct()
            .sorted()
            .toList();
    Scale y = scale();
    html.element("text", title, "x", 4, "y", 16, "class", "title");
    for (double tick : y.ticks()) {
      html.empty(
          "line",
          "x1",
          LEFT,
          "x2",
          WIDTH - RIGHT,
          "y1",
          y.at(tick),
          "y2",
          y.at(tick),
          "class",
          "grid");
      html.element(
          "text", Numbers.tick(tick), "x", LEFT - 6, "y", y.at(tick) + 4, "class", "tick end");
    }
    html.element(
        "text",
        yTitle,
        "x",
        -(TOP + HEIGHT - BOTTOM) / 2,
        "y",
        12,
        "transform",
        "rotate(-90)",
        "class",
        "tick middle");
    int every = (int) Math.ceil(xs.size() / 7.0);
    for (int i = 0; i < xs.size(); i++) {
      if ((xs.size() - 1 - i) % every == 0) {
        html.element(
            "text",
            xText.apply(xs.get(i)),
            "x",
            x(i, xs.size()),
            "y",
            HEIGHT - BOTTOM + 18,
            "class",
            "tick middle");
      }
    }
    html.element(
        "text", xTitle, "x", (LEFT + WIDTH - RIGHT) / 2, "y", HEIGHT - 10, "class", "tick middle");
    for (Curve curve : curves) {
      line(html, palette, curve, xs, y);
    }
  }

  private Scale scale() {
    double[] all =
        curves.stream()
            .flatMap(c -> c.points().stream())
            .flatMapToDouble(
                p ->
                    p.interval()
                        .map(i -> DoubleStream.of(p.y(), i.low(), i.high()))
                        .orElse(DoubleStream.of(p.y())))
            .toArray();
    double highest = DoubleStream.of(all).max().orElse(1);
    double lowest = DoubleStream.of(all).filter(v -> v > 0).min().orElse(highest / 10);
    return logarithmic
        ? Scale.decades(lowest, highest, HEIGHT - BOTTOM, TOP)
        : Scale.linear(highest, HEIGHT - BOTTOM, TOP);
  }

  /** Neighbouring sizes have equal distances, since they are powers of two. */
  private static double x(int index, int count) {
    double inner = WIDTH - LEFT - RIGHT - 24;
    return LEFT + 12 + (count < 2 ? inner / 2 : inner * index / (count - 1));
  }

  private static void line(Html html, Palette palette, Curve curve, List<Double> xs, Scale y) {
    String colour = palette.colour(curve.setting());
    String points =
        curve.points().stream()
            .map(p -> (float) x(xs.indexOf(p.x()), xs.size()) + "," + (float) y.at(p.y()))
            .collect(Collectors.joining(" "));
    html.empty("polyline", "points", points, "fill", "none", "stroke", colour, "stroke-width", 1.8);
    for (Curve.Point point : curve.points()) {
      double at = x(xs.indexOf(point.x()), xs.size());
      point
          .interval()
          .ifPresent(
              i ->
                  html.empty(
                      "line",
                      "x1",
                      at,
                      "x2",
                      at,
                      "y1",
                      y.at(i.low()),
                      "y2",
                      y.at(i.high()),
                      "stroke",
                      colour,
                      "stroke-width",
                      1.2,
                      "opacity",
                      0.7));
      palette.mark(html, curve.setting(), at, y.at(point.y()));
    }
  }
}
