package graft.comparison.trace;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What took the time in a timeline: kernels and other work of the GPUs, and waiting calls. */
public final class TimelineSummary {
  private static final Set<String> WORK = Set.of("kernel", "memcpy", "memset", "graph");
  private static final String WAIT = "wait";
  private static final String CALL = "call";

  /** A file that somebody else wrote could have a new name in each event. */
  private static final int MOST_NAMES = 20_000;

  private static final int WIDEST_NAME = 60;
  private static final double MILLIS = 1e3;

  private record Key(String category, String name) {}

  /** Times are in microseconds, as in the file. */
  private static final class Total {
    long count;
    double sum;
    double longest;
  }

  private record Row(Key key, Total total) {}

  private final Map<Key, Total> totals = new HashMap<>();
  private final Map<Long, BusyTime> gpus = new TreeMap<>();
  private double first = Double.MAX_VALUE;
  private double last = -Double.MAX_VALUE;

  /** Reads a file. */
  public static TimelineSummary of(Path file) throws IOException {
    TimelineSummary summary = new TimelineSummary();
    TimelineFile.read(file, summary::add);
    return summary;
  }

  private void add(String event) {
    Map<String, Object> read;
    try {
      read = Json.readObject(event);
    } catch (IOException e) {
      return; // the last one of a program that was killed
    }
    if (read.get("cat") instanceof String category
        && read.get("name") instanceof String name
        && read.get("ts") instanceof Number ts
        && read.get("dur") instanceof Number dur
        && read.get("pid") instanceof Number pid) {
      add(new Key(category, name), ts.doubleValue(), dur.doubleValue(), pid.longValue());
    }
  }

  private void add(Key key, double start, double lasted, long process) {
    boolean isWork = WORK.contains(key.category());
    boolean isKnown = isWork || key.category().equals(WAIT) || key.category().equals(CALL);
    if (!isKnown || !(lasted >= 0) || !Double.isFinite(start + lasted)) {
      return;
    }
    first = Math.min(first, start);
    last = Math.max(last, start + lasted);
    Key counted =
        totals.size() < MOST_NAMES || totals.containsKey(key)
            ? key
            : new Key(key.category(), "other names");
    Total total = totals.computeIfAbsent(counted, k -> new Total());
    total.count++;
    total.sum += lasted;
    total.longest = Math.max(total.longest, lasted);
    if (isWork) {
      gpus.computeIfAbsent(process, p -> new BusyTime()).add(start, start + lasted);
    }
  }

  /** Returns whether the file has no event that is counted. */
  public boolean isEmpty() {
    return totals.isEmpty();
  }

  private List<Row> rows(Set<String> categories) {
    List<Row> rows = new ArrayList<>();
    totals.forEach(
        (key, total) -> {
          if (categories.contains(key.category())) {
            rows.add(new Row(key, total));
          }
        });
    rows.sort(
        Comparator.comparingDouble((Row row) -> -row.total().sum)
            .thenComparing(row -> row.key().name()));
    return rows;
  }

  private double sum(Set<String> categories) {
    return rows(categories).stream().mapToDouble(row -> row.total().sum).sum();
  }

  private long count(Set<String> categories) {
    return rows(categories).stream().mapToLong(row -> row.total().count).sum();
  }

  private double wall() {
    return isEmpty() ? 0 : last - first;
  }

  private double busy() {
    return gpus.values().stream().mapToDouble(BusyTime::total).sum();
  }

  /** A table for people, with so many rows of work and of waits. */
  public String text(int most) {
    StringBuilder text = new StringBuilder();
    line(text, "%-14s %12.3f ms, from the first call to the end", "time", wall() / MILLIS);
    line(
        text,
        "%-14s %12.3f ms, %.1f%% of it",
        gpus.size() > 1 ? gpus.size() + " GPUs busy" : "GPU busy",
        busy() / MILLIS,
        wall() > 0 ? 100 * busy() / wall() : 0);
    line(
        text,
        "%-14s %12.3f ms, in %d calls that wait for the server, of %d",
        "waiting",
        sum(Set.of(WAIT)) / MILLIS,
        count(Set.of(WAIT)),
        count(Set.of(WAIT, CALL)));
    table(text, "work on the GPU", rows(WORK), most);
    table(text, "waiting calls", rows(Set.of(WAIT)), most);
    return text.toString();
  }

  private static void table(StringBuilder text, String title, List<Row> rows, int most) {
    if (rows.isEmpty()) {
      return;
    }
    double sum = rows.stream().mapToDouble(row -> row.total().sum).sum();
    line(
        text,
        "%n%-62s %8s %12s %10s %12s %6s",
        title,
        "COUNT",
        "TOTAL ms",
        "MEAN us",
        "MOST us",
        "%");
    for (Row row : rows.subList(0, Math.min(most, rows.size()))) {
      Total total = row.total();
      line(
          text,
          "%-62s %8d %12.3f %10.1f %12.1f %6.1f",
          shown(row.key()),
          total.count,
          total.sum / MILLIS,
          total.sum / total.count,
          total.longest,
          sum > 0 ? 100 * total.sum / sum : 0);
    }
    if (rows.size() > most) {
      line(text, "and %d more names", rows.size() - most);
    }
  }

  /** A name may come from a guest's file, and must not command the terminal. */
  private static String shown(Key key) {
    String name = key.name().replaceAll("[^ -~]", "?");
    boolean isPlain = key.category().equals(WAIT) || name.startsWith(key.category());
    String all = isPlain ? name : key.category() + " " + name;
    return all.length() <= WIDEST_NAME + 2 ? all : all.substring(0, WIDEST_NAME - 1) + "...";
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments)).append(System.lineSeparator());
  }

  /** The same as a tree, with all names. */
  public Map<String, Object> tree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("wallMs", wall() / MILLIS);
    tree.put("gpuBusyMs", busy() / MILLIS);
    tree.put("gpus", gpus.size());
    tree.put("calls", count(Set.of(WAIT, CALL)));
    tree.put("work", rows(WORK).stream().map(TimelineSummary::tree).toList());
    tree.put("waits", rows(Set.of(WAIT)).stream().map(TimelineSummary::tree).toList());
    return tree;
  }

  private static Map<String, Object> tree(Row row) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("kind", row.key().category());
    tree.put("name", row.key().name());
    tree.put("count", row.total().count);
    tree.put("totalMs", row.total().sum / MILLIS);
    tree.put("longestMs", row.total().longest / MILLIS);
    return tree;
  }
}
