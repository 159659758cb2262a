package graft.comparison.report;

import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import java.util.List;

/** The report's section that lists every figure by itself, without means over figures. */
final class FiguresSection {
  private FiguresSection() {}

  static void write(Html html, Findings findings) {
    html.element("h2", "Every figure");
    html.element(
        "p",
        "n observations; a ring marks those with outliers, which count like all others; the single"
            + " observations are in results.csv.");
    html.open("table", "class", "figures").open("thead").open("tr");
    for (String column :
        List.of(
            "figure",
            "setting",
            "n",
            "mean",
            "95% interval",
            "median",
            "",
            "against the baseline")) {
      html.element("th", column);
    }
    html.close().close().open("tbody");
    for (FigureKey key : findings.figures()) {
      boolean first = true;
      for (String setting : findings.settings()) {
        if (findings.summary(key, setting).isPresent()) {
          row(html, findings, key, setting, first);
          first = false;
        }
      }
    }
    html.close().close();
  }

  private static void row(
      Html html, Findings findings, FigureKey key, String setting, boolean first) {
    Summary s = findings.summary(key, setting).orElseThrow();
    html.open("tr", "class", first ? "first" : "next");
    html.element("th", first ? key.label() : "").element("td", setting);
    long outliers = s.outliers().stream().filter(Boolean::booleanValue).count();
    html.element("td", s.count() + (outliers > 0 ? " ◦" + outliers : ""));
    html.element("td", Numbers.plain(s.mean()));
    html.element("td", s.interval().map(FiguresSection::bounds).orElse("–"));
    html.element("td", Numbers.plain(s.median())).element("td", key.unit());
    html.element("td", findings.overhead(key, setting).map(FiguresSection::against).orElse("–"))
        .close();
  }

  private static String against(Overhead o) {
    return Numbers.overhead(o.ratio())
        + o.interval().map(i -> " (" + Numbers.overheads(i) + ")").orElse("");
  }

  private static String bounds(Interval interval) {
    return Numbers.plain(interval.low()) + " to " + Numbers.plain(interval.high());
  }
}
