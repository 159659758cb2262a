package graft.comparison.results;

import graft.comparison.statistics.Summary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Results as a table in Markdown: a row for each figure, a column for each setting or ratio. */
public final class ResultsTable {
  private final Results results;
  private final List<Column> columns = new ArrayList<>();

  /** The text of a figure in a column. */
  private record Column(String title, Cell cell) {}

  private interface Cell {
    String text(Measurement figure);
  }

  /** A table with columns for figure, size, state (where there are several) and unit. */
  public ResultsTable(Results results) {
    this.results = results;
    columns.add(new Column("figure", Measurement::name));
    if (results.measurements().stream().anyMatch(m -> m.size() > 0)) {
      columns.add(new Column("size", m -> m.size() == 0 ? "" : size(m.size())));
    }
    if (results.states().size() > 1) {
      columns.add(new Column("state", m -> m.state().title()));
    }
    columns.add(new Column("unit", Measurement::unit));
  }

  /** Adds a setting's medians. */
  public ResultsTable median(String setting) {
    return column(
        setting,
        f ->
            results
                .at(setting, f)
                .filter(Results::hasValue)
                .map(m -> number(m.value()))
                .orElse(""));
  }

  /** Adds a setting's medians with the range of their samples and the number of failed samples. */
  public ResultsTable spread(String setting) {
    return column(setting, f -> results.at(setting, f).map(ResultsTable::spread).orElse(""));
  }

  private static String spread(Measurement m) {
    int failed = m.samples().size() - m.measured().size();
    return Results.hasValue(m)
        ? spread(m.measured(), ResultsTable::number)
            + (failed == 0 ? "" : ", " + failed + " of " + m.samples().size() + " failed")
        : "failed";
  }

  private static String spread(List<Double> values, DoubleFunction<String> text) {
    String median = text.apply(Summary.median(values));
    return values.size() < 2
        ? median
        : median
            + " ["
            + text.apply(Collections.min(values))
            + " to "
            + text.apply(Collections.max(values))
            + "]";
  }

  /** Adds a setting's ratios to another one. */
  public ResultsTable ratio(String title, String setting, String reference) {
    return column(
        title, f -> results.ratio(setting, reference, f).map(ResultsTable::ratio).orElse(""));
  }

  /** Adds a setting's ratios to one that was measured around each of its samples. */
  public ResultsTable ratioAround(String title, String setting, String reference) {
    return column(
        title,
        f -> {
          List<Double> ratios = results.ratiosAround(setting, reference, f);
          return ratios.isEmpty() ? "" : spread(ratios, ResultsTable::ratio);
        });
  }

  private ResultsTable column(String title, Cell cell) {
    columns.add(new Column(title, cell));
    return this;
  }

  private static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }

  /** A number of bytes, in MiB or KiB if it is a whole multiple of that unit. */
  public static String size(long bytes) {
    if (bytes % (1 << 20) == 0) {
      return bytes / (1 << 20) + " MiB";
    }
    return bytes % 1024 == 0 ? bytes / 1024 + " KiB" : Long.toString(bytes);
  }

  private static String number(double value) {
    if (value >= 100_000) {
      return String.format(Locale.ROOT, "%.3g", value);
    }
    return value >= 100
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.2f", value);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    row(text, columns.stream().map(Column::title).toList());
    text.append("|").append("---|".repeat(columns.size())).append("\n");
    for (Measurement figure : results.figures()) {
      row(text, columns.stream().map(c -> c.cell().text(figure)).toList());
    }
    return text.toString();
  }

  private static void row(StringBuilder text, List<String> cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
