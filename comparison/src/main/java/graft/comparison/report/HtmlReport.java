package graft.comparison.report;

import graft.comparison.run.Case;
import graft.comparison.run.Entry;
import graft.comparison.run.Noise;
import graft.comparison.run.Result;
import graft.comparison.run.Setting;
import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.Published;
import graft.comparison.suite.Workload;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The report for people: one HTML file that needs nothing else. */
final class HtmlReport {
  /** Waiting programs for each processor that a comparison's own do not explain. */
  private static final int BUSY = 4;

  private final Findings findings;
  private final List<Published> published;
  private final String suiteText;
  private final Palette palette;
  private final Html html = new Html();

  HtmlReport(Findings findings, List<Published> published, String suiteText) {
    this.findings = findings;
    this.published = published;
    this.suiteText = suiteText;
    palette = new Palette(findings.settings());
  }

  String write() throws IOException {
    String title = findings.suite().title().orElse("Comparison: " + findings.suite().name());
    html.raw("<!DOCTYPE html>\n");
    html.open("html", "lang", "en").open("head");
    html.empty("meta", "charset", "utf-8");
    html.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.element("title", title);
    html.open("style").raw(style()).close().close();
    html.open("body").open("main");
    head(title);
    overview();
    fidelity();
    notMeasured();
    new PlotSections(findings, palette, html).write();
    published();
    figures();
    machine();
    html.close().close().close();
    return html.toString();
  }

  private static String style() throws IOException {
    try (InputStream style = HtmlReport.class.getResourceAsStream("report.css")) {
      return new String(style.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void head(String title) {
    html.element("h1", title);
    Map<String, String> machine = findings.begin().machine();
    html.open("p", "class", "lead");
    html.text(machine.getOrDefault("device", "unknown device"));
    html.text(" · " + machine.getOrDefault("host", "unknown host"));
    html.text(" · begun " + findings.begin().at());
    html.close();
    if (findings.suite().servedDevice().equals("software")) {
      html.element(
          "p",
          "These are software-device figures: no GPU was used, and kernels ran on the host's"
              + " processor. They show what each way costs against the others on this machine, and"
              + " say nothing about a GPU's speed.",
          "class",
          "notice");
    }
    long failed = findings.failures().size();
    long blocks = findings.runs().stream().mapToInt(Entry.Run::block).distinct().count();
    html.open("p");
    html.text(findings.settings().size() + " ways, " + blocks + " of " + findings.suite().blocks());
    html.text(" blocks, " + findings.runs().size() + " runs, " + failed + " without figures. ");
    html.text("Order by chance within each block, seed " + findings.begin().seed() + ". ");
    html.text("Means with 95% confidence intervals (bootstrap over blocks). Baseline: ");
    html.element("strong", findings.baseline()).text(".").close();
    busy();
    legend();
  }

  /** Figures of a machine that did much else are worth little, and the reader should know. */
  private void busy() {
    String processors = findings.begin().machine().getOrDefault("processors", "");
    double load = findings.runs().stream().mapToDouble(r -> r.noise().load()).max().orElse(0);
    if (!processors.isEmpty() && load > BUSY * Integer.parseInt(processors)) {
      html.element(
          "p",
          "The machine was busy with other work: a load of up to "
              + Numbers.plain(load)
              + " on "
              + processors
              + " processors. Differences between the ways may come from that.",
          "class",
          "notice");
    }
  }

  private void legend() {
    html.open("p", "class", "legend");
    for (String setting : findings.settings()) {
      html.open("span");
      html.open("svg", "viewBox", "0 0 14 14", "class", "key");
      palette.mark(html, setting, 7, 7);
      html.close().text(" " + setting).close();
    }
    html.close();
  }

  /** What each way costs, by workload and in all. */
  private void overview() {
    List<String> others = new ArrayList<>(findings.settings());
    others.remove(findings.baseline());
    html.element("h2", "What each way costs");
    if (others.isEmpty() || !findings.settings().contains(findings.baseline())) {
      html.element(
          "p", "There is nothing to compare with the baseline " + findings.baseline() + ".");
      return;
    }
    html.element(
        "p",
        "Geometric mean of the time relative to the baseline, over all figures of a workload; of a"
            + " rate, the baseline's over this one's. Less is better, 0% is as long as the baseline.");
    html.open("table").open("thead").open("tr").element("th", "workload");
    others.forEach(setting -> html.element("th", setting));
    html.close().close().open("tbody");
    List<OverheadPlot.Row> rows = new ArrayList<>();
    for (Workload workload : findings.suite().workloads()) {
      List<FigureKey> keys =
          findings.figures().stream()
              .filter(k -> k.workload().equals(workload.name()))
              .filter(k -> !k.figure().equals("start") && !k.figure().equals("total"))
              .toList();
      OverheadPlot.Row row = row(workload.name(), keys, others);
      if (!row.overheads().isEmpty()) {
        rows.add(row);
        tableRow(row, others);
      }
    }
    html.close().close();
    if (!rows.isEmpty()) {
      new OverheadPlot(rows, others).draw(html, palette);
    }
  }

  private void tableRow(OverheadPlot.Row row, List<String> settings) {
    html.open("tr").element("th", row.label());
    for (String setting : settings) {
      Overhead overhead = row.overheads().get(setting);
      html.open("td");
      if (overhead == null) {
        html.text("–");
      } else {
        html.element("strong", Numbers.overhead(overhead.ratio()));
        overhead.interval().ifPresent(i -> html.element("small", " " + overheads(i)));
      }
      html.close();
    }
    html.close();
  }

  private OverheadPlot.Row row(String label, List<FigureKey> keys, List<String> settings) {
    return PlotSections.row(findings, label, keys, settings);
  }

  private static String overheads(Interval interval) {
    return Numbers.overhead(interval.low()) + " to " + Numbers.overhead(interval.high());
  }

  /** What runs where: the evaluation paper's table II, with a row for every program. */
  private void fidelity() {
    List<String> settings = Setting.of(findings.suite()).stream().map(Setting::name).toList();
    html.element("h2", "What runs where");
    html.open("table").open("thead").open("tr").element("th", "program");
    settings.forEach(setting -> html.element("th", setting));
    html.close().close().open("tbody");
    for (Case run : Case.of(findings.suite())) {
      html.open("tr").element("th", run.key());
      settings.forEach(setting -> html.element("td", outcome(run.key(), setting)));
      html.close();
    }
    html.close().close();
  }

  /** One word where all blocks agree, else how many of them gave figures. */
  private String outcome(String key, String setting) {
    List<Result> results =
        findings.runs().stream()
            .filter(run -> run.key().equals(key) && run.setting().equals(setting))
            .map(Entry.Run::result)
            .toList();
    if (results.isEmpty()) {
      return findings.impossible().containsKey(setting) ? "not possible" : "not run";
    }
    long well = results.stream().filter(Result.OK::equals).count();
    return results.stream().distinct().count() == 1
        ? results.get(0).toString()
        : well + " of " + results.size() + " ok";
  }

  /** What this site could not do, and what failed: never left out. */
  private void notMeasured() {
    Map<String, String> impossible = findings.impossible();
    List<Entry.Run> failures = findings.failures();
    List<Entry.NotReady> notReady = findings.of(Entry.NotReady.class);
    if (impossible.isEmpty()
        && failures.isEmpty()
        && notReady.isEmpty()
        && findings.stopped().isEmpty()) {
      return;
    }
    html.element("h2", "What could not be measured");
    findings
        .stopped()
        .ifPresent(why -> html.element("p", "The comparison stopped: " + why, "class", "notice"));
    html.open("table", "class", "words").open("tbody");
    impossible.forEach((setting, why) -> reason(setting, "not possible on this site", why));
    notReady.forEach(e -> reason(e.setting(), "did not come up in block " + e.block(), e.why()));
    Map<String, List<Entry.Run>> alike =
        failures.stream()
            .collect(
                Collectors.groupingBy(
                    r -> r.key() + "\n" + r.result() + "\n" + r.why(),
                    java.util.LinkedHashMap::new,
                    Collectors.toList()));
    for (List<Entry.Run> runs : alike.values()) {
      Entry.Run run = runs.get(0);
      String settings =
          runs.stream().map(Entry.Run::setting).distinct().collect(Collectors.joining(", "));
      String blocks =
          runs.stream()
              .map(r -> Integer.toString(r.block()))
              .distinct()
              .collect(Collectors.joining(", "));
      reason(settings, run.key() + ": " + run.result() + " (block " + blocks + ")", run.why());
    }
    html.close().close();
  }

  private void reason(String setting, String what, String why) {
    html.open("tr").element("th", setting).element("td", what).element("td", why).close();
  }

  private void published() {
    if (published.isEmpty()) {
      return;
    }
    html.element("h2", "Published figures beside these");
    html.element(
        "p",
        "Others' figures, as published, on their hardware and software. In brackets: time relative"
            + " to the publication's own baseline. The line below each is what was measured here.");
    html.open("table", "class", "words").open("thead").open("tr");
    html.element("th", "what").element("th", "values").element("th", "source").close().close();
    html.open("tbody");
    for (Published figure : published) {
      html.open("tr").element("th", figure.what() + " (" + figure.unit() + ")");
      html.element("td", publishedValues(figure))
          .open("td")
          .element("span", "published", "class", "tag");
      html.text(" " + figure.source()).close().close();
      String own = ownValues(figure);
      if (!own.isEmpty()) {
        html.open("tr", "class", "own").element("td", "").element("td", own);
        html.element("td", "measured here: " + figure.workload().orElse("")).close();
      }
    }
    html.close().close();
  }

  private static String publishedValues(Published figure) {
    Optional<Double> base =
        figure.values().stream()
            .filter(v -> figure.baseline().filter(v.label()::equals).isPresent())
            .map(v -> v.value().value())
            .findFirst();
    List<String> texts = new ArrayList<>();
    for (Published.PublishedValue value : figure.values()) {
      String text = value.label() + " " + Numbers.plain(value.value().value());
      if (base.isPresent() && !figure.baseline().get().equals(value.label())) {
        double ratio = value.value().value() / base.get();
        boolean rate = graft.comparison.run.Figure.isRate(figure.unit());
        text += " (" + Numbers.overhead(rate ? 1 / ratio : ratio) + ")";
      }
      texts.add(text);
    }
    return String.join(" · ", texts);
  }

  private String ownValues(Published figure) {
    List<FigureKey> keys =
        findings.figures().stream()
            .filter(k -> figure.workload().filter(k.workload()::equals).isPresent())
            .filter(k -> figure.figure().isEmpty() || figure.figure().get().equals(k.figure()))
            .filter(FigureKey::isCompared)
            .toList();
    if (keys.isEmpty()) {
      return "";
    }
    FigureKey largest = keys.get(keys.size() - 1);
    List<String> texts = new ArrayList<>();
    for (String setting : findings.settings()) {
      Optional<Summary> summary = findings.summary(largest, setting);
      Optional<Overhead> overhead = findings.overhead(largest, setting);
      summary.ifPresent(
          s ->
              texts.add(
                  setting
                      + " "
                      + Numbers.plain(s.mean())
                      + " "
                      + largest.unit()
                      + overhead.map(o -> " (" + Numbers.overhead(o.ratio()) + ")").orElse("")));
    }
    String size = largest.size() > 0 ? "at " + Numbers.size(largest.size()) + ": " : "";
    return size + String.join(" · ", texts);
  }

  /** Every figure: nothing that was measured is hidden in a mean. */
  private void figures() {
    html.element("h2", "Every figure");
    html.element(
        "p",
        "n observations; a ring marks those with outliers, which count like all others; the single"
            + " observations are in results.csv.");
    html.open("table", "class", "figures").open("thead").open("tr");
    for (String column :
        List.of(
            "figure", "way", "n", "mean", "95% interval", "median", "", "against the baseline")) {
      html.element("th", column);
    }
    html.close().close().open("tbody");
    for (FigureKey key : findings.figures()) {
      boolean first = true;
      for (String setting : findings.settings()) {
        Optional<Summary> summary = findings.summary(key, setting);
        if (summary.isPresent()) {
          figure(key, setting, summary.get(), first);
          first = false;
        }
      }
    }
    html.close().close();
  }

  private void figure(FigureKey key, String setting, Summary s, boolean first) {
    html.open("tr", "class", first ? "first" : "next");
    html.element("th", first ? key.label() : "").element("td", setting);
    long outliers = s.outliers().stream().filter(Boolean::booleanValue).count();
    html.element("td", s.count() + (outliers > 0 ? " ◦" + outliers : ""));
    html.element("td", Numbers.plain(s.mean()));
    html.element("td", s.interval().map(HtmlReport::bounds).orElse("–"));
    html.element("td", Numbers.plain(s.median())).element("td", key.unit());
    html.element("td", findings.overhead(key, setting).map(this::against).orElse("–")).close();
  }

  private String against(Overhead o) {
    return Numbers.overhead(o.ratio())
        + o.interval().map(i -> " (" + overheads(i) + ")").orElse("");
  }

  private static String bounds(Interval interval) {
    return Numbers.plain(interval.low()) + " to " + Numbers.plain(interval.high());
  }

  private void machine() {
    html.element("h2", "The machine, and how to repeat this");
    html.open("table", "class", "words").open("tbody");
    findings
        .begin()
        .machine()
        .forEach((name, value) -> html.open("tr").element("th", name).element("td", value).close());
    noise();
    readiness();
    html.close().close();
    html.element("p", "Repeat it with graft compare SUITE --output-dir DIR and this suite:");
    html.element("pre", suiteText.strip());
  }

  private void noise() {
    List<Entry.Run> runs = findings.runs().stream().filter(r -> r.result() == Result.OK).toList();
    if (runs.isEmpty()) {
      return;
    }
    DoubleSummaryStatistics clock = over(runs, Noise::megahertz);
    DoubleSummaryStatistics gpuClock = over(runs, Noise::gpuMegahertz);
    double warm = over(runs, Noise::celsius).getMax();
    String text =
        "processor time stolen by the hypervisor below: at most "
            + Numbers.plain(over(runs, Noise::stealPercent).getMax())
            + "%; load at most "
            + Numbers.plain(over(runs, Noise::load).getMax())
            + (clock.getMax() > 0 ? "; clock " + range(clock) + " MHz" : "")
            + (warm > 0 ? "; warmest sensor " + Numbers.plain(warm) + " °C" : "; no sensor of heat")
            + (gpuClock.getMax() > 0
                ? "; after the runs the GPU's clock was "
                    + range(gpuClock)
                    + " MHz, its temperature at most "
                    + Numbers.plain(over(runs, Noise::gpuCelsius).getMax())
                    + " °C"
                : "");
    html.open("tr").element("th", "noise").element("td", text).close();
  }

  private static DoubleSummaryStatistics over(
      List<Entry.Run> runs, ToDoubleFunction<Noise> figure) {
    return runs.stream().map(Entry.Run::noise).mapToDouble(figure).summaryStatistics();
  }

  private static String range(DoubleSummaryStatistics figure) {
    return Numbers.plain(figure.getMin()) + " to " + Numbers.plain(figure.getMax());
  }

  private void readiness() {
    Map<String, Double> longest = new java.util.LinkedHashMap<>();
    int guests = 0;
    for (Entry.Ready ready : findings.of(Entry.Ready.class)) {
      longest.merge(ready.setting(), ready.seconds(), Math::max);
      guests = Math.max(guests, ready.guestsRunning());
    }
    StringBuilder text = new StringBuilder();
    for (Iterator<Map.Entry<String, Double>> i = longest.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<String, Double> entry = i.next();
      text.append(entry.getKey()).append(' ').append(Numbers.plain(entry.getValue())).append(" s");
      text.append(i.hasNext() ? ", " : "");
    }
    html.open("tr").element("th", "time to make ready, at most").element("td", text.toString());
    html.close();
    html.open("tr").element("th", "guests on this host");
    String off =
        findings.of(Entry.ShutOff.class).stream()
            .map(Entry.ShutOff::guest)
            .distinct()
            .collect(Collectors.joining(", "));
    html.element(
            "td",
            "at most "
                + guests
                + " at one time, the comparison's own among them"
                + (off.isEmpty() ? "" : "; shut off for it: " + off))
        .close();
  }
}
