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

/** The HTML report: one self-contained file. */
final class HtmlReport {
  /** The load per processor above which the comparison's own programs cannot be the cause. */
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

  String write() {
    String title = findings.suite().title().orElse("Comparison: " + findings.suite().name());
    html.raw("<!DOCTYPE html>\n");
    html.open("html", "lang", "en").open("head");
    html.empty("meta", "charset", "utf-8");
    html.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    html.element("title", title);
    html.open("style").raw(Html.style()).close().close();
    html.open("body").open("main");
    head(title);
    overview();
    HypervisorTable.of(findings).write(html);
    fidelity();
    notMeasured();
    new PlotSections(findings, palette, html).write();
    PublishedSection.write(html, findings, published);
    FiguresSection.write(html, findings);
    MachineSection.write(html, findings, suiteText);
    html.close().close().close();
    return html.toString();
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
    busy();
    legend();
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
   * Writes which programs run in which setting: the evaluation paper's table II, with a row for
   * every program.
   */
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
}
