package graft.comparison.report;

import graft.comparison.results.Measurement;
import graft.comparison.run.Case;
import graft.comparison.run.Entry;
import graft.comparison.run.Result;
import graft.comparison.run.Setting;
import graft.comparison.statistics.Bootstrap;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.Suite;
import graft.comparison.suite.WorkloadKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The contents of a log, grouped by figure and setting, with their statistics. */
public final class Findings {
  private final Suite suite;
  private final List<Entry> entries;
  private final Entry.Begin begin;
  private final String baseline;
  private final Bootstrap bootstrap;
  private final Map<FigureKey, Map<String, SortedMap<Integer, Double>>> values =
      new LinkedHashMap<>();

  /** Groups the entries of a log, whose first entry is its {@link Entry.Begin}. */
  public Findings(Suite suite, List<Entry> entries) {
    this.suite = suite;
    this.entries = List.copyOf(entries);
    begin = (Entry.Begin) entries.get(0);
    baseline = Setting.baseline(suite).name();
    bootstrap = new Bootstrap(begin.seed());
    for (Case run : Case.of(suite)) {
      runs().stream().filter(r -> r.key().equals(run.key())).forEach(r -> add(run, r));
    }
  }

  private void add(Case run, Entry.Run entry) {
    for (Measurement figure : entry.figures()) {
      FigureKey key =
          new FigureKey(
              run.workload().name(),
              run.key(),
              figure.name(),
              figure.size(),
              figure.unit(),
              figure.state());
      values
          .computeIfAbsent(key, k -> new LinkedHashMap<>())
          .computeIfAbsent(entry.setting(), s -> new TreeMap<>())
          .put(entry.block(), figure.value());
    }
  }

  public Suite suite() {
    return suite;
  }

  /** The first entry of the log. */
  public Entry.Begin begin() {
    return begin;
  }

  /** The setting with which the others are compared. */
  public String baseline() {
    return baseline;
  }

  /** All runs, in the order in which they were made. */
  public List<Entry.Run> runs() {
    return of(Entry.Run.class);
  }

  /** All entries of one kind. */
  public <E extends Entry> List<E> of(Class<E> type) {
    return entries.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** The settings that have figures, in the suite's order. */
  public List<String> settings() {
    Set<String> measured =
        values.values().stream().flatMap(m -> m.keySet().stream()).collect(Collectors.toSet());
    return Setting.of(suite).stream().map(Setting::name).filter(measured::contains).toList();
  }

  /** All figures, by workload in the suite's order. */
  public Collection<FigureKey> figures() {
    return values.keySet();
  }

  /** The figures of workloads of a kind, without those of runs with empty caches. */
  public List<FigureKey> figures(WorkloadKind kind) {
    Set<String> names =
        suite.workloads().stream()
            .filter(workload -> workload.knownKind().orElseThrow() == kind)
            .map(workload -> workload.name())
            .collect(Collectors.toCollection(LinkedHashSet::new));
    return values.keySet().stream()
        .filter(key -> names.contains(key.workload()) && !key.isOfEmptyCaches())
        .toList();
  }

  /**
   * The figures by which a workload is summed up: all but those of its start and of empty caches.
   */
  List<FigureKey> summedUp(String workload) {
    return values.keySet().stream()
        .filter(key -> key.workload().equals(workload) && !key.isOfEmptyCaches())
        .filter(key -> !key.figure().equals("start") && !key.figure().equals("total"))
        .toList();
  }

  /** The observations of a figure by block; empty if there are none. */
  public SortedMap<Integer, Double> values(FigureKey key, String setting) {
    return values.getOrDefault(key, Map.of()).getOrDefault(setting, new TreeMap<>());
  }

  /** The summary of a figure's observations in a setting; empty if there are none. */
  public Optional<Summary> summary(FigureKey key, String setting) {
    List<Double> observed = List.copyOf(values(key, setting).values());
    return observed.isEmpty() ? Optional.empty() : Optional.of(Summary.of(observed, bootstrap));
  }

  /** The summary of other observations, at least one. */
  Summary summary(List<Double> observed) {
    return Summary.of(observed, bootstrap);
  }

  /**
   * The overhead of a figure over the baseline; empty for figures that are not compared or have no
   * pairs.
   */
  public Optional<Overhead> overhead(FigureKey key, String setting) {
    return overhead(List.of(key), setting);
  }

  /**
   * The geometric mean of the overheads of several figures, over the blocks that have all of these
   * figures in both settings. Figures that are not compared, or that one of the settings lacks
   * altogether, are left out.
   */
  public Optional<Overhead> overhead(Collection<FigureKey> keys, String setting) {
    List<FigureKey> common =
        keys.stream()
            .filter(FigureKey::isCompared)
            .filter(k -> !values(k, setting).isEmpty() && !values(k, baseline).isEmpty())
            .toList();
    Set<Integer> blocks = new LinkedHashSet<>();
    for (int block = 1; block <= suite.blocks(); block++) {
      int number = block;
      if (!common.isEmpty() && common.stream().allMatch(k -> isPair(k, setting, number))) {
        blocks.add(number);
      }
    }
    if (setting.equals(baseline) || blocks.isEmpty()) {
      return Optional.empty();
    }
    List<Overhead.Pairs> pairs = new ArrayList<>();
    for (FigureKey key : common) {
      pairs.add(
          new Overhead.Pairs(
              chosen(key, baseline, blocks), chosen(key, setting, blocks), key.isRate()));
    }
    return Optional.of(Overhead.geometricMean(pairs, bootstrap));
  }

  /** Whether both settings have a value in the block. A ratio needs values above zero. */
  private boolean isPair(FigureKey key, String setting, int block) {
    return values(key, setting).getOrDefault(block, 0.0) > 0
        && values(key, baseline).getOrDefault(block, 0.0) > 0;
  }

  private List<Double> chosen(FigureKey key, String setting, Set<Integer> blocks) {
    return blocks.stream().map(block -> values(key, setting).get(block)).toList();
  }

  /** Why the comparison ended early; empty if it did not, or was continued later. */
  public Optional<String> stopped() {
    return entries.get(entries.size() - 1) instanceof Entry.Stopped stopped
        ? Optional.of(stopped.why())
        : Optional.empty();
  }

  /** Runs that produced no figures. */
  public List<Entry.Run> failures() {
    return runs().stream().filter(run -> run.result() != Result.OK).toList();
  }

  /** Settings that this site does not support and that have no figure, with the reason. */
  public Map<String, String> impossible() {
    Map<String, String> reasons = new LinkedHashMap<>();
    of(Entry.Impossible.class).forEach(entry -> reasons.put(entry.setting(), entry.why()));
    reasons.keySet().removeAll(settings());
    return reasons;
  }
}
