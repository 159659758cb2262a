package graft.comparison.report;

import java.util.List;
import java.util.Map;

/** A drawing with titled axes, and the data that it shows. Lengths are pixels of 1/96 inch. */
interface Plot {
  double width();

  double height();

  /** Writes the drawing, without a legend, into an element {@code svg} or {@code g}. */
  void content(Html html, Palette palette);

  /** The names that the legend explains, in its order. */
  List<String> names();

  /** The colour that stands for a name of the legend. */
  default String colour(Palette palette, String name) {
    return palette.colour(name);
  }

  /** Draws the mark of a name of the legend. */
  default void key(Html html, Palette palette, String name, double x, double y) {
    palette.mark(html, name, x, y);
  }

  /**
   * What plot.py needs besides the data: {@code kind} (curves, overheads or stack), the titles of
   * the axes {@code x} and {@code y}, and whether the axis of the values is {@code logarithmic}.
   */
  Map<String, Object> axes();

  /** The data as lines of CSV fields, the first of which are the names of the columns. */
  List<List<String>> data();
}
