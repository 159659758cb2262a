package graft.comparison.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The figures of each way, in the order in which they were measured.
 *
 * @param machine what it was measured on, by what it is
 * @param ways figures by the name of the way; {@link #PLAIN} is what TCP carries without us
 */
public record RemotingResults(
    Map<String, String> machine, Map<String, Map<Figure, Measured>> ways) {
  /** The column of plain TCP. */
  public static final String PLAIN = "plain TCP";

  public static final String NATIVE = "native";
  private static final String TCP = "tcp";
  private static final String COPY = "plain-copy";
  private static final String ROUND_TRIP = "plain-round-trip";

  /** What a launch and a wait may cost over TCP beside the round trip and the launch itself. */
  private static final double ALLOWED_MICROSECONDS = 5;

  /** All figures, plain TCP's own last. */
  Set<Figure> figures() {
    Set<Figure> all = new LinkedHashSet<>();
    ways.forEach(
        (way, figures) -> {
          if (!way.equals(PLAIN)) {
            all.addAll(figures.keySet());
          }
        });
    all.addAll(ways.getOrDefault(PLAIN, Map.of()).keySet());
    return all;
  }

  private Measured at(String way, Figure figure) {
    return ways.getOrDefault(way, Map.of()).get(figure);
  }

  /** A way's value over the native one, null if one of them is missing. */
  Double ratio(String way, Figure figure) {
    Measured here = at(way, figure);
    Measured there = at(NATIVE, figure);
    return here == null || there == null || there.value() == 0
        ? null
        : here.value() / there.value();
  }

  /**
   * What TCP could do at best for a figure: the copy's rate, or round trip + native + 5 us for a
   * launch and its wait. Null where there is no such thing.
   */
  Double best(Figure figure) {
    if (figure.name().startsWith("pinned-") || figure.name().startsWith("pageable-")) {
      Measured copy = at(PLAIN, new Figure(COPY, figure.bytes()));
      return copy == null ? null : copy.value();
    }
    Measured trip = at(PLAIN, new Figure(ROUND_TRIP, 0));
    Measured launch = at(NATIVE, figure);
    return figure.name().equals("launch-synchronize") && trip != null && launch != null
        ? trip.value() + launch.value() + ALLOWED_MICROSECONDS
        : null;
  }

  private boolean showsBest() {
    return ways.containsKey(PLAIN) && ways.containsKey(TCP);
  }

  /** A table in Markdown: ratios are to native in the same run. */
  public String table() {
    List<String> columns = ways.keySet().stream().filter(way -> !way.equals(PLAIN)).toList();
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("figure", "size", "unit"));
    for (String way : columns) {
      head.add(way);
      if (!way.equals(NATIVE) && ways.containsKey(NATIVE)) {
        head.add("ratio");
      }
    }
    if (showsBest()) {
      head.add("tcp / best");
    }
    rows.add(head);
    for (Figure figure : figures()) {
      rows.add(row(figure, columns));
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
      if (i == 0) {
        text.append("|").append("---|".repeat(head.size())).append("\n");
      }
    }
    return text.toString();
  }

  private List<String> row(Figure figure, List<String> columns) {
    Measured some = null;
    for (Map<Figure, Measured> figures : ways.values()) {
      some = some == null ? figures.get(figure) : some;
    }
    List<String> row = new ArrayList<>(List.of(figure.name(), figure.size(), some.unit()));
    boolean plain = figure.name().startsWith("plain-");
    for (String way : columns) {
      Measured value = at(plain && way.equals(TCP) ? PLAIN : way, figure);
      row.add(value == null ? "" : number(value.value()));
      if (!way.equals(NATIVE) && ways.containsKey(NATIVE)) {
        Double ratio = ratio(way, figure);
        row.add(ratio == null ? "" : String.format(Locale.ROOT, "%.2f", ratio));
      }
    }
    if (showsBest()) {
      Double best = best(figure);
      Measured tcp = at(TCP, figure);
      row.add(
          best == null || tcp == null
              ? ""
              : String.format(Locale.ROOT, "%.2f", tcp.value() / best));
    }
    return row;
  }

  private static String number(double value) {
    if (value >= 100_000) {
      return String.format(Locale.ROOT, "%.3g", value);
    }
    return value >= 100
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.2f", value);
  }

  /** The same as a tree for JSON. */
  public Object tree() {
    List<Object> rows = new ArrayList<>();
    for (Figure figure : figures()) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("figure", figure.name());
      row.put("bytes", figure.bytes());
      Map<String, Object> values = new LinkedHashMap<>();
      Map<String, Object> ratios = new LinkedHashMap<>();
      ways.forEach(
          (way, figures) -> {
            Measured value = figures.get(figure);
            if (value != null) {
              row.put("unit", value.unit());
              values.put(way, value.value());
            }
            Double ratio = way.equals(NATIVE) ? null : ratio(way, figure);
            if (ratio != null) {
              ratios.put(way, ratio);
            }
          });
      row.put("values", values);
      row.put("ratios", ratios);
      Double best = best(figure);
      if (best != null) {
        row.put("best-over-tcp", best);
      }
      rows.add(row);
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("machine", machine);
    tree.put("figures", rows);
    return tree;
  }
}
