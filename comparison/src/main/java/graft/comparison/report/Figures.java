package graft.comparison.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Writes and numbers the figures of a report, and keeps them for their files. A figure for which
 * the report has no room goes into the appendix, and the report says so.
 */
final class Figures {
  /** The figures' share of the report: four of its pages of A4, in pixels of a wide figure. */
  private static final double ROOM = 4500;

  /** A higher figure leaves too much of a page empty before it. */
  private static final double HIGHEST = 800;

  private static final double CAPTION = 50;

  private final Palette palette;
  private final Html report;
  private final Html appendix;
  private final List<Figure> inReport = new ArrayList<>();
  private final List<Figure> inAppendix = new ArrayList<>();
  private double room = ROOM;

  Figures(Palette palette, Html report, Html appendix) {
    this.palette = palette;
    this.report = report;
    this.appendix = appendix;
  }

  /**
   * Adds a figure over the whole width.
   *
   * @param name names its files together with the number
   */
  void add(String name, String title, String caption, Plot plot) {
    double need = plot.height() + CAPTION;
    if (plot.height() <= HIGHEST && need <= room) {
      room -= need;
      Figure figure = number("", inReport, name, title, caption, plot);
      figure.write(report, palette, "wide", true);
    } else {
      Figure figure = aside(name, title, caption, plot);
      report.open("p");
      report.text("Figure " + figure.number() + " in the ");
      report.element("a", "appendix", "href", "appendix.html").text(": " + title + ".").close();
    }
  }

  /**
   * Adds a figure of half the width, one of a row whose element and legend the caller has written.
   */
  void addNarrow(String name, String title, String caption, Plot plot) {
    room -= (plot.height() + CAPTION) / 2;
    Figure figure = number("", inReport, name, title, caption, plot);
    figure.write(report, palette, "plot", false);
  }

  private Figure aside(String name, String title, String caption, Plot plot) {
    if (inAppendix.isEmpty()) {
      appendix.element("h2", "Further figures");
    }
    Figure figure = number("A", inAppendix, name, title, caption, plot);
    figure.write(appendix, palette, "wide", true);
    return figure;
  }

  private static Figure number(
      String prefix, List<Figure> all, String name, String title, String caption, Plot plot) {
    String words =
        name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    String file =
        String.format(
            Locale.ROOT,
            "figure-%s%02d-%s",
            prefix.toLowerCase(Locale.ROOT),
            all.size() + 1,
            words.substring(0, Math.min(60, words.length())));
    Figure figure = new Figure(prefix + (all.size() + 1), file, title, caption, plot);
    all.add(figure);
    return figure;
  }

  /** All figures so far. */
  List<Figure> all() {
    return Stream.concat(inReport.stream(), inAppendix.stream()).toList();
  }
}
