package graft.remoting.server.pool;

import java.util.Map;

/**
 * Writes Prometheus' text exposition format 0.0.4. Names follow its conventions, which {@code
 * promtool check metrics} checks: base units, and {@code _total} at the end of counters alone.
 */
final class MetricsPage {
  private final StringBuilder text = new StringBuilder();
  private String family = "";

  /** Begins a counter, whose samples follow. */
  MetricsPage counter(String name, String help) {
    return family(name, "counter", help);
  }

  /** Begins a gauge, whose samples follow. */
  MetricsPage gauge(String name, String help) {
    return family(name, "gauge", help);
  }

  private MetricsPage family(String name, String type, String help) {
    family = name;
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  /** Writes a sample without labels. */
  MetricsPage sample(long value) {
    return sample(Map.of(), Long.toString(value));
  }

  /** Writes a sample. */
  MetricsPage sample(Map<String, String> labels, long value) {
    return sample(labels, Long.toString(value));
  }

  /** Writes a sample in seconds. */
  MetricsPage seconds(Map<String, String> labels, long nanos) {
    return sample(labels, Double.toString(nanos / 1e9));
  }

  private MetricsPage sample(Map<String, String> labels, String value) {
    text.append(family);
    String separator = "{";
    for (Map.Entry<String, String> label : labels.entrySet()) {
      text.append(separator).append(label.getKey()).append("=\"");
      text.append(escape(label.getValue())).append('"');
      separator = ",";
    }
    text.append(labels.isEmpty() ? "" : "}").append(' ').append(value).append('\n');
    return this;
  }

  private static String escape(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
