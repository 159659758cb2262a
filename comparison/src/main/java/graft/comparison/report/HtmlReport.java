package graft.comparison.report;

import graft.comparison.run.Case;
import graft.comparison.run.Entry;
import graft.comparison.run.Result;
import graft.comparison.run.Setting;
import graft.comparison.statistics.Overhead;
import graft.comparison.suite.Published;
import graft.comparison.suite.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The HTML report: report.html, which prints to fewer than ten pages of A4, and appendix.html with
 * the rest. Both are self-contained.
 */
final class HtmlReport {
  /** The load per processor above which the comparison's own programs cannot be the cause. */
  private static final int BUSY = 4;

  /** The rows of a table in the report; the appendix has the whole table. */
  static final int MOST_ROWS = 12;

  private final Findings findings;
  private final List<Published> published;
  private final String suiteText;
  private final Palette palette;
  private final Html html = new Html();
  private final Html appendix = new Html();
  private final Figures figures;

  HtmlReport(Findings findings, List<Published> published, String suiteText) {
    this.findings = findings;
    this.published = published;
    this.suiteText = suiteText;
    palette = new Palette(findings.settings());
    figures = new Figures(palette, html, appendix);
    String title = findings.suite().title().orElse("Comparison: " + findings.suite().name());
    begin(html, title);
    begin(appendix, "Appendix: " + title);
    write(title);
    html.close().close().close();
    appendix.close().close().close();
  }

  private static void begin(Html html, String title) {
    html.raw("<!DOCTYPE html>\n");
    html.open("html", "lang", "en").open("head");
    html.empty("meta", "charset", "utf-8");
    html.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.element("title", title);
    html.open("style").raw(Html.resource("report.css")).raw(Html.resource("figure.css"));
    html.close().close();
    html.open("body").open("main");
  }

  private void write(String title) {
    head(title);
    appendixHead(title);
    overview();
    HypervisorTable.of(findings).write(html, appendix);
    fidelity();
    notMeasured();
    new PlotSections(findings, palette, html, figures).write();
    new ProfileSection(findings).write(html, figures, appendix);
    PublishedSection.write(html, appendix, findings, published);
    FiguresSection.write(appendix, findings);
    MachineSection.write(html, appendix, findings, suiteText);
  }

  /** The report. */
  String report() {
    return html.toString();
  }

  /** The appendix. */
  String appendix() {
    return appendix.toString();
  }

  List<Figure> figures() {
    return figures.all();
  }

  Palette palette() {
    return palette;
  }

  private void appendixHead(String title) {
    appendix.element("h1", "Appendix");
    appendix.open("p", "class", "lead").text("To ");
    appendix.element("a", title, "href", "report.html");
    appendix.text(" · begun " + findings.begin().at()).close();
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
              + " processor. They show what each setting costs against the others on this machine,"
              + " and say nothing about a GPU's speed.",
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
    html.open("p").text("Every figure, the table of what ran where and the suite are in the ");
    html.element("a", "appendix", "href", "appendix.html");
    html.text("; the plots with their data are in the folder figures.").close();
    busy();
  }

  /** Warns the reader if other work loaded the machine, since the figures are then unreliable. */
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

  /** Writes the cost of each setting, by workload and overall. */
  private void overview() {
    List<String> others = new ArrayList<>(findings.settings());
    others.remove(findings.baseline());
    html.element("h2", "What each setting costs");
    if (others.isEmpty() || !findings.settings().contains(findings.baseline())) {
      html.element(
          "p", "There is nothing to compare with the baseline " + findings.baseline() + ".");
      return;
    }
    html.element(
        "p",
        "Geometric mean of the time relative to the baseline, over all figures of a workload; of a"
            + " rate, the baseline's over this one's. Less is better, 0% is as long as the"
            + " baseline.");
    html.open("table").open("thead").open("tr").element("th", "workload");
    others.forEach(setting -> html.element("th", setting));
    html.close().close().open("tbody");
    List<OverheadPlot.Row> rows = new ArrayList<>();
    for (Workload workload : findings.suite().workloads()) {
      List<FigureKey> keys = findings.summedUp(workload.name());
      OverheadPlot.Row row = row(workload.name(), keys, others);
      if (!row.overheads().isEmpty()) {
        rows.add(row);
        tableRow(row, others);
      }
    }
    html.close().close();
    if (!rows.isEmpty()) {
      figures.add(
          "overview",
          "Cost of each setting by workload",
          "Geometric means over all figures of a workload. " + PlotSections.relative(findings),
          new OverheadPlot(rows, others, findings.baseline(), "workload"));
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
        overhead.interval().ifPresent(i -> html.element("small", " " + Numbers.overheads(i)));
      }
      html.close();
    }
    html.close();
  }

  private OverheadPlot.Row row(String label, List<FigureKey> keys, List<String> settings) {
    return PlotSections.row(findings, label, keys, settings);
  }

  /**
   * Writes which programs run in which setting, with a row for every program, as in the evaluation
   * paper's table II. The report has the programs that do not run everywhere, the appendix all.
   */
  private void fidelity() {
    List<String> settings = findings.settings();
    List<Case> all = Case.of(findings.suite());
    List<Case> some =
        all.stream()
            .filter(run -> settings.stream().anyMatch(s -> !outcome(run.key(), s).equals("ok")))
            .toList();
    html.element("h2", "What runs where");
    if (some.isEmpty()) {
      html.element(
          "p", "All " + all.size() + " programs ran in every setting that the machine can have.");
    } else {
      html.element(
          "p",
          (all.size() - some.size())
              + " of "
              + all.size()
              + " programs ran in every setting that the machine can have. The others:");
      programs(html, some.subList(0, Math.min(some.size(), MOST_ROWS)));
      more(html, some.size());
    }
    appendix.element("h2", "What runs where");
    programs(appendix, all);
  }

  /** Says that the appendix continues a table. */
  static void more(Html html, int rows) {
    if (rows > MOST_ROWS) {
      html.element("p", (rows - MOST_ROWS) + " more are in the appendix.");
    }
  }

  private void programs(Html page, List<Case> cases) {
    List<String> settings = Setting.of(findings.suite()).stream().map(Setting::name).toList();
    page.open("table").open("thead").open("tr").element("th", "program");
    settings.forEach(setting -> page.element("th", setting));
    page.close().close().open("tbody");
    for (Case run : cases) {
      page.open("tr").element("th", run.key());
      settings.forEach(setting -> page.element("td", outcome(run.key(), setting)));
      page.close();
    }
    page.close().close();
  }

  /** One word if all blocks agree, else the number of blocks that produced figures. */
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

  /**
   * Writes the settings that this site does not support and the runs that failed. The report always
   * lists both.
   */
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
    List<List<String>> rows = new ArrayList<>();
    impossible.forEach(
        (setting, why) -> rows.add(List.of(setting, "not possible on this site", why)));
    notReady.forEach(
        e -> rows.add(List.of(e.setting(), "did not come up in block " + e.block(), e.why())));
    rows.addAll(failed(failures));
    reasons(html, rows.subList(0, Math.min(rows.size(), MOST_ROWS)));
    more(html, rows.size());
    if (rows.size() > MOST_ROWS) {
      appendix.element("h2", "What could not be measured");
      reasons(appendix, rows);
    }
  }

  /** The failed runs; those of a program with the same reason are one row. */
  private static List<List<String>> failed(List<Entry.Run> failures) {
    Map<String, List<Entry.Run>> alike =
        failures.stream()
            .collect(
                Collectors.groupingBy(
                    r -> r.key() + "\n" + r.result() + "\n" + r.why(),
                    java.util.LinkedHashMap::new,
                    Collectors.toList()));
    List<List<String>> rows = new ArrayList<>();
    for (List<Entry.Run> runs : alike.values()) {
      Entry.Run run = runs.get(0);
      String settings =
          runs.stream().map(Entry.Run::setting).distinct().collect(Collectors.joining(", "));
      String blocks =
          runs.stream()
              .map(r -> Integer.toString(r.block()))
              .distinct()
              .collect(Collectors.joining(", "));
      rows.add(
          List.of(
              settings, run.key() + ": " + run.result() + " (block " + blocks + ")", run.why()));
    }
    return rows;
  }

  private static void reasons(Html page, List<List<String>> rows) {
    page.open("table", "class", "words").open("tbody");
    for (List<String> row : rows) {
      page.open("tr").element("th", row.get(0)).element("td", row.get(1));
      page.element("td", row.get(2)).close();
    }
    page.close().close();
  }
}
