package graft.comparison.report;

import graft.common.json.Json;
import graft.comparison.run.Entry;
import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.Published;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The report's data as JSON. */
final class JsonReport {
  private JsonReport() {}

  static String write(Findings findings, List<Published> published, String suiteText) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", findings.suite().name());
    tree.put("softwareDevice", findings.suite().servedDevice().equals("software"));
    tree.put("begun", findings.begin().at());
    tree.put("seed", findings.begin().seed());
    tree.put("baseline", findings.baseline());
    tree.put("machine", findings.begin().machine());
    tree.put("suite", suiteText);
    tree.put("impossible", findings.impossible());
    tree.put("notReady", trees(findings.of(Entry.NotReady.class)));
    tree.put("failures", trees(findings.failures()));
    tree.put("amounts", trees(findings.of(Entry.Amount.class)));
    tree.put("profiles", trees(findings.of(Entry.Profile.class)));
    List<Object> figures = new ArrayList<>();
    for (FigureKey key : findings.figures()) {
      for (String setting : findings.settings()) {
        findings
            .summary(key, setting)
            .ifPresent(s -> figures.add(figure(findings, key, setting, s)));
      }
    }
    tree.put("measurements", figures);
    tree.put("published", published.stream().map(JsonReport::published).toList());
    return Json.pretty(tree) + "\n";
  }

  private static List<?> trees(List<? extends Entry> entries) {
    return entries.stream().map(Entry::write).toList();
  }

  private static Map<String, Object> figure(
      Findings findings, FigureKey key, String setting, Summary summary) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("setting", setting);
    tree.put("name", key.run() + ": " + key.figure());
    tree.put("size", key.size());
    tree.put("unit", key.unit());
    tree.put("state", key.state().toString());
    tree.put("samples", findings.values(key, setting).values());
    tree.put("blocks", findings.values(key, setting).keySet());
    tree.put("workload", key.workload());
    tree.put("case", key.run());
    tree.put("figure", key.figure());
    tree.put("mean", summary.mean());
    tree.put("median", summary.median());
    tree.put("deviation", summary.deviation());
    tree.put("interval", bounds(summary.interval()));
    tree.put("outliers", summary.outliers());
    Optional<Overhead> overhead = findings.overhead(key, setting);
    tree.put("ratio", overhead.map(Overhead::ratio).orElse(null));
    tree.put("ratioInterval", bounds(overhead.flatMap(Overhead::interval)));
    return tree;
  }

  private static Object published(Published figure) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("source", figure.source());
    tree.put("what", figure.what());
    tree.put("unit", figure.unit());
    Map<String, Double> values = new LinkedHashMap<>();
    figure.values().forEach(v -> values.put(v.label(), v.value().value()));
    tree.put("values", values);
    return tree;
  }

  private static List<Double> bounds(Optional<Interval> interval) {
    return interval.map(i -> List.of(i.low(), i.high())).orElse(null);
  }
}
