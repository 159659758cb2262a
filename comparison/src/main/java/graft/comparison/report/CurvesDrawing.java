package graft.comparison.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.DoubleFunction;

/** One self-contained SVG drawing of several plots, two in a row, with a legend above. */
public final class CurvesDrawing {
  private static final double LEGEND_WIDTH = 2 * CurvePlot.WIDTH;

  private final List<CurvePlot> plots = new ArrayList<>();
  private final Set<String> names = new LinkedHashSet<>();
  private final String abscissaTitle;
  private final DoubleFunction<String> abscissa;

  /**
   * Begins a drawing.
   *
   * @param title the title of the horizontal axes
   * @param abscissa writes the values on the horizontal axes
   */
  public CurvesDrawing(String title, DoubleFunction<String> abscissa) {
    abscissaTitle = title;
    this.abscissa = abscissa;
  }

  /**
   * Adds a plot; a name has the same colour in all plots.
   *
   * @param unit the title of the vertical axis
   * @param logarithmic whether the vertical axis is logarithmic
   * @param curves by name, values by their place on the horizontal axis
   */
  public CurvesDrawing plot(
      String title,
      String unit,
      boolean logarithmic,
      Map<String, SortedMap<Double, Double>> curves) {
    List<Curve> drawn = new ArrayList<>();
    curves.forEach(
        (name, values) -> {
          List<Curve.Point> points = new ArrayList<>();
          values.forEach((x, y) -> points.add(new Curve.Point(x, y, Optional.empty())));
          drawn.add(new Curve(name, points));
          names.add(name);
        });
    plots.add(new CurvePlot(title, abscissaTitle, unit, logarithmic, drawn, abscissa));
    return this;
  }

  /** Returns the drawing as SVG. */
  public String draw() {
    List<List<String>> lines = Drawing.legendLines(names, LEGEND_WIDTH);
    double above = Drawing.LEGEND * lines.size();
    Html html = new Html();
    Palette palette = new Palette(List.copyOf(names));
    double rows = Math.ceil(plots.size() / 2.0);
    double width = Math.min(2, Math.max(1, plots.size())) * CurvePlot.WIDTH;
    Drawing.open(html, Math.max(width, LEGEND_WIDTH), above + rows * CurvePlot.HEIGHT);
    for (int i = 0; i < lines.size(); i++) {
      Drawing.at(html, 0, i * Drawing.LEGEND);
      Drawing.legend(html, palette, lines.get(i));
      html.close();
    }
    for (int i = 0; i < plots.size(); i++) {
      Drawing.at(html, i % 2 * CurvePlot.WIDTH, above + Math.floor(i / 2.0) * CurvePlot.HEIGHT);
      plots.get(i).content(html, palette);
      html.close();
    }
    return html.close().toString();
  }
}
