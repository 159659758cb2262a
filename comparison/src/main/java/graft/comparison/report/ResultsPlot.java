package graft.comparison.report;

import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.ResultsTable;
import graft.comparison.results.State;
import graft.comparison.statistics.Overhead;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Results as one SVG drawing: a panel of curves for each figure with several sizes, and for each
 * other figure a bar relative to a baseline.
 */
public final class ResultsPlot {

  private final Results results;
  private final String baseline;
  private final Palette palette;
  private final Html html = new Html();

  /**
   * Prepares a drawing. If {@code baseline} is not among the settings, the first setting is the
   * baseline.
   */
  public ResultsPlot(Results results, String baseline) {
    this.results = results;
    List<String> settings = results.settings();
    this.baseline = settings.contains(baseline) ? baseline : settings.get(0);
    palette = new Palette(settings);
  }

  /** Returns the drawing as SVG. */
  public String draw() {
    Map<String, List<Measurement>> figures =
        results.figures().stream()
            .collect(
                Collectors.groupingBy(ResultsPlot::title, LinkedHashMap::new, Collectors.toList()));
    List<CurvePlot> curves = new ArrayList<>();
    List<OverheadPlot.Row> rows = new ArrayList<>();
    figures.forEach(
        (name, sizes) -> {
          if (sizes.size() > 1) {
            curves.add(curves(name, sizes));
          } else if (!sizes.get(0).unit().isEmpty()) {
            rows.add(row(name, sizes.get(0)));
          }
        });
    rows.removeIf(row -> row.overheads().isEmpty());
    List<String> others =
        results.settings().stream().filter(setting -> !setting.equals(baseline)).toList();
    OverheadPlot overheads = new OverheadPlot(rows, others, baseline, "figure");
    double below = Drawing.LEGEND + Math.ceil(curves.size() / 2.0) * CurvePlot.HEIGHT;
    double height = below + (rows.isEmpty() ? 0 : Drawing.LEGEND + overheads.height());
    Drawing.open(html, OverheadPlot.WIDTH, height);
    Drawing.legend(html, palette, results.settings());
    for (int i = 0; i < curves.size(); i++) {
      Drawing.at(
          html,
          i % 2 * OverheadPlot.WIDTH / 2,
          Drawing.LEGEND + Math.floor(i / 2.0) * CurvePlot.HEIGHT);
      curves.get(i).content(html, palette);
      html.close();
    }
    if (!rows.isEmpty()) {
      Drawing.at(html, 0, below);
      html.element("text", "Time relative to " + baseline, "x", 4, "y", 16, "class", "title");
      html.close();
      Drawing.at(html, 0, below + Drawing.LEGEND);
      overheads.content(html, palette);
      html.close();
    }
    return html.close().toString();
  }

  private static String title(Measurement m) {
    return m.state() == State.WARM ? m.name() : m.name() + ", " + m.state().title();
  }

  private CurvePlot curves(String name, List<Measurement> sizes) {
    boolean rates = sizes.stream().anyMatch(size -> Measurement.isRate(size.unit()));
    List<Curve> curves = new ArrayList<>();
    for (String setting : results.settings()) {
      List<Curve.Point> points = new ArrayList<>();
      for (Measurement size : sizes) {
        results
            .at(setting, size)
            .filter(m -> !m.measured().isEmpty())
            .map(m -> rates ? rate(m) : m.value())
            .ifPresent(y -> points.add(new Curve.Point(size.size(), y, Optional.empty())));
      }
      if (!points.isEmpty()) {
        curves.add(new Curve(setting, points));
      }
    }
    String unit = rates ? sizes.get(sizes.size() - 1).unit() : sizes.get(0).unit();
    return new CurvePlot(name, "size", unit, true, curves, size -> ResultsTable.size((long) size));
  }

  /** The rate of a copy in GB/s. Small copies are measured in microseconds each. */
  private static double rate(Measurement m) {
    return m.unit().equals("us") ? m.size() / m.value() / 1e3 : m.value();
  }

  private OverheadPlot.Row row(String name, Measurement figure) {
    Map<String, Overhead> overheads = new LinkedHashMap<>();
    for (String setting : results.settings()) {
      if (!setting.equals(baseline)) {
        results
            .ratio(setting, baseline, figure)
            .filter(ratio -> ratio > 0)
            .map(ratio -> Measurement.isRate(figure.unit()) ? 1 / ratio : ratio)
            .ifPresent(r -> overheads.put(setting, new Overhead(r, Optional.empty(), 1)));
      }
    }
    return new OverheadPlot.Row(name, overheads);
  }
}
