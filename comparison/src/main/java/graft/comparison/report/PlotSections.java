package graft.comparison.report;

import graft.comparison.run.Entry;
import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.WorkloadKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** The report's sections with plots; a section without figures is left out. */
final class PlotSections {
  private static final Map<String, String> WAYS =
      Map.of(
          "h2d-pinned", "Host to device, pinned memory",
          "d2h-pinned", "Device to host, pinned memory",
          "h2d-pageable", "Host to device, pageable memory",
          "d2h-pageable", "Device to host, pageable memory",
          "d2d", "Within the device");
  private static final List<String> WAY_ORDER =
      List.of("h2d-pinned", "d2h-pinned", "h2d-pageable", "d2h-pageable", "d2d");

  private final Findings findings;
  private final Palette palette;
  private final Html html;
  private final Figures figures;

  PlotSections(Findings findings, Palette palette, Html html, Figures figures) {
    this.findings = findings;
    this.palette = palette;
    this.html = html;
    this.figures = figures;
  }

  void write() {
    bandwidth();
    synthetic();
    overheads(WorkloadKind.LAUNCH, "What calls cost");
    overheads(WorkloadKind.REMOTING, "What the channel costs by itself");
    overheads(WorkloadKind.KERNELS, "Kernels");
    overheads(WorkloadKind.MEMORY, "Patterns of memory and compute");
    multiplex();
    overheads(WorkloadKind.MULTI_GPU, "Several GPUs");
    overheads(WorkloadKind.EXEC, "The site's programs");
  }

  private void bandwidth() {
    List<FigureKey> keys =
        findings.figures(WorkloadKind.BANDWIDTH).stream().filter(k -> k.size() > 0).toList();
    if (keys.isEmpty()) {
      return;
    }
    html.element("h2", "Bandwidth over size");
    html.element("p", "Copies one after the other, MB/s (10^6 bytes a second). More is better.");
    List<CurvePlot> plots = new ArrayList<>();
    for (String way : WAY_ORDER) {
      List<Curve> curves = new ArrayList<>();
      for (String setting : findings.settings()) {
        List<Curve.Point> points = new ArrayList<>();
        for (FigureKey key : keys) {
          if (key.figure().equals(way)) {
            findings
                .summary(key, setting)
                .ifPresent(s -> points.add(new Curve.Point(key.size(), s.mean(), s.interval())));
          }
        }
        if (!points.isEmpty()) {
          curves.add(new Curve(setting, points));
        }
      }
      if (!curves.isEmpty()) {
        plots.add(
            new CurvePlot(
                WAYS.get(way),
                "size of a copy, bytes",
                "MB/s",
                true,
                curves,
                size -> Numbers.size((long) size)));
      }
    }
    row("bandwidth", "Mean bandwidth of copies over their size" + whiskers(), plots);
  }

  /** Writes plots in rows of two, with one legend. */
  private void row(String name, String caption, List<CurvePlot> plots) {
    if (!plots.isEmpty()) {
      Figure.legend(html, palette, plots.get(0));
      html.open("div", "class", "plots");
      plots.forEach(
          plot -> figures.addNarrow(name + " " + plot.title(), plot.title(), caption, plot));
      html.close();
    }
  }

  private String whiskers() {
    return findings.suite().blocks() >= 3 ? "; whiskers are 95% intervals." : ".";
  }

  private void synthetic() {
    List<FigureKey> keys = findings.figures(WorkloadKind.SYNTHETIC);
    Map<String, List<StackPlot.Bar>> groups = new LinkedHashMap<>();
    for (FigureKey key : keys) {
      if (key.figure().equals("time")) {
        for (String setting : findings.settings()) {
          Map<String, Summary> parts = new LinkedHashMap<>();
          for (String part : List.of("compute", "transfer")) {
            findings.summary(key.named(part), setting).ifPresent(s -> parts.put(part, s));
          }
          if (!parts.isEmpty()) {
            groups
                .computeIfAbsent(key.run(), r -> new ArrayList<>())
                .add(new StackPlot.Bar(setting, parts, ""));
          }
        }
      }
    }
    if (groups.isEmpty()) {
      return;
    }
    html.element("h2", "A set share of time in transfers");
    html.element(
        "p",
        "The amount of work makes the share that each group names where it was calibrated ("
            + calibratedIn()
            + "); the other settings do the same work.");
    List<StackPlot.Group> list = new ArrayList<>();
    groups.forEach((label, bars) -> list.add(new StackPlot.Group(label, bars)));
    figures.add(
        "synthetic shares",
        "Time of a program with a set share of it in transfers",
        "Means by the program's own clock" + whiskers(),
        new StackPlot(list));
    overheadPlot(
        "synthetic cost",
        "Cost of the program with a set share of its time in transfers",
        keys.stream().filter(k -> k.figure().equals("time")).toList());
  }

  private String calibratedIn() {
    return findings.of(Entry.Amount.class).stream()
        .map(Entry.Amount::setting)
        .distinct()
        .reduce((a, b) -> a + ", " + b)
        .orElse("nowhere");
  }

  private void overheads(WorkloadKind kind, String title) {
    List<FigureKey> keys =
        findings.figures(kind).stream()
            .filter(k -> !k.figure().equals("total") && k.isCompared())
            .filter(k -> kind == WorkloadKind.LAUNCH || !k.figure().equals("start"))
            .toList();
    if (keys.isEmpty()) {
      return;
    }
    html.element("h2", title);
    overheadPlot(kind.program() + " cost", title, keys);
  }

  static String relative(Findings findings) {
    boolean sure = findings.suite().blocks() >= 3;
    String intervals = sure ? "with 95% intervals" : "without intervals: there are too few blocks";
    return "Time relative to the baseline " + findings.baseline() + ", " + intervals + ".";
  }

  private void overheadPlot(String name, String title, List<FigureKey> keys) {
    List<String> others = new ArrayList<>(findings.settings());
    others.remove(findings.baseline());
    List<OverheadPlot.Row> rows = new ArrayList<>();
    for (FigureKey key : keys) {
      String label = key.figure().equals("time") ? key.run() : key.figure();
      OverheadPlot.Row row = row(findings, label, List.of(key), others);
      if (!row.overheads().isEmpty()) {
        rows.add(row);
      }
    }
    if (!rows.isEmpty()) {
      figures.add(
          name,
          title,
          relative(findings),
          new OverheadPlot(rows, others, findings.baseline(), "figure"));
    }
  }

  static OverheadPlot.Row row(
      Findings findings, String label, List<FigureKey> keys, List<String> settings) {
    Map<String, Overhead> overheads = new LinkedHashMap<>();
    for (String setting : settings) {
      findings.overhead(keys, setting).ifPresent(o -> overheads.put(setting, o));
    }
    return new OverheadPlot.Row(label, overheads);
  }

  /**
   * Plots the time of the slowest of N copies relative to a single copy, as in the evaluation
   * paper's figure 4.
   */
  private void multiplex() {
    List<FigureKey> keys = findings.figures(WorkloadKind.MULTIPLEX);
    List<Curve> curves = new ArrayList<>();
    for (String setting : findings.settings()) {
      List<Curve.Point> points = new ArrayList<>();
      for (FigureKey key : keys) {
        SortedMap<Integer, Double> alone = findings.values(one(key), setting);
        Optional<Summary> summary = findings.summary(key, setting);
        if (summary.isPresent() && !alone.isEmpty()) {
          double base = alone.values().stream().mapToDouble(d -> d).average().orElseThrow();
          Optional<Interval> interval =
              summary.get().interval().map(i -> new Interval(i.low() / base, i.high() / base));
          points.add(new Curve.Point(copies(key), summary.get().mean() / base, interval));
        }
      }
      if (!points.isEmpty()) {
        curves.add(new Curve(setting, points));
      }
    }
    if (curves.isEmpty()) {
      return;
    }
    html.element("h2", "Several at once");
    html.element(
        "p",
        "Time of the slowest of N programs that run at once, over the mean time of one alone. A"
            + " line from 1 to N at N would be no gain over running them one after the other.");
    row(
        "multiplex",
        "Time of the slowest of N programs over the mean time of one alone" + whiskers(),
        List.of(
            new CurvePlot(
                "Slowest of N over one alone",
                "programs at once",
                "times",
                false,
                curves,
                n -> Integer.toString((int) n))));
  }

  private static int copies(FigureKey key) {
    return Integer.parseInt(key.run().substring(key.run().lastIndexOf('x') + 1));
  }

  private static FigureKey one(FigureKey key) {
    return key.in(key.run().substring(0, key.run().lastIndexOf('x')) + "x1");
  }
}
