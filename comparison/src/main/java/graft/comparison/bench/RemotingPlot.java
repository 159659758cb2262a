package graft.comparison.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The results as a drawing (SVG): the rates of copies by size, and the times of calls. */
public final class RemotingPlot {
  private static final List<String> COPIES =
      List.of(
          "pinned-host-to-device",
          "pinned-device-to-host",
          "pageable-host-to-device",
          "pageable-device-to-host");
  private static final List<String> CALLS =
      List.of("launch-asynchronous", "launch-synchronize", "memory-info", "malloc-free");
  private static final Map<String, String> COLOURS =
      Map.of(
          "native",
          "#222222",
          "shm",
          "#1b7f4d",
          "unix",
          "#c77700",
          "tcp",
          "#1f5fbf",
          "rdma",
          "#8e3b9e",
          RemotingResults.PLAIN,
          "#9a9a9a");
  private static final int PANEL_WIDTH = 420;
  private static final int PANEL_HEIGHT = 240;
  private static final int LEFT = 60;
  private static final int TOP = 60;
  private static final int PLOT_WIDTH = 320;
  private static final int PLOT_HEIGHT = 140;

  private final RemotingResults results;
  private final StringBuilder svg = new StringBuilder();

  private RemotingPlot(RemotingResults results) {
    this.results = results;
  }

  /** The drawing. */
  public static String of(RemotingResults results) {
    return new RemotingPlot(results).draw();
  }

  private String draw() {
    int width = 2 * PANEL_WIDTH;
    int height = 3 * PANEL_HEIGHT + TOP;
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
            + " font-family=\"sans-serif\" font-size=\"11\">",
        width, height, width, height);
    add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>", width, height);
    legend();
    for (int i = 0; i < COPIES.size(); i++) {
      copies(COPIES.get(i), i % 2 * PANEL_WIDTH, i / 2 * PANEL_HEIGHT + 20);
    }
    calls(0, 2 * PANEL_HEIGHT + 20);
    add("</svg>");
    return svg.toString();
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private void text(double x, double y, String anchor, String words) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
        x, y, anchor, words.replace("&", "&amp;").replace("<", "&lt;"));
  }

  private static String colour(String way) {
    return COLOURS.getOrDefault(way, "#7b3fb5");
  }

  private void legend() {
    int x = LEFT;
    for (String way : results.ways().keySet()) {
      add("<rect x=\"%d\" y=\"12\" width=\"12\" height=\"12\" fill=\"%s\"/>", x, colour(way));
      text(x + 16, 22, "start", way);
      x += 40 + 7 * way.length();
    }
  }

  /** Rate over size, both logarithmic. */
  private void copies(String figure, int x0, int y0) {
    Map<String, TreeMap<Long, Double>> lines = new java.util.LinkedHashMap<>();
    double least = Double.MAX_VALUE;
    double most = 0;
    List<Long> sizes = new ArrayList<>();
    for (Map.Entry<String, Map<Figure, Measured>> way : results.ways().entrySet()) {
      String wanted = way.getKey().equals(RemotingResults.PLAIN) ? "plain-copy" : figure;
      TreeMap<Long, Double> line = new TreeMap<>();
      for (Map.Entry<Figure, Measured> entry : way.getValue().entrySet()) {
        long bytes = entry.getKey().bytes();
        if (entry.getKey().name().equals(wanted) && bytes > 0) {
          double rate = rate(bytes, entry.getValue());
          line.put(bytes, rate);
          least = Math.min(least, rate);
          most = Math.max(most, rate);
          if (!sizes.contains(bytes)) {
            sizes.add(bytes);
          }
        }
      }
      lines.put(way.getKey(), line);
    }
    if (sizes.size() < 2) {
      return;
    }
    sizes.sort(null);
    text(x0 + LEFT, y0 + TOP - 12, "start", figure + ", GB/s");
    Scale across =
        new Scale(
            (double) sizes.get(0), (double) sizes.get(sizes.size() - 1), x0 + LEFT, PLOT_WIDTH);
    Scale up = new Scale(least, most, y0 + TOP + PLOT_HEIGHT, -PLOT_HEIGHT);
    frame(x0, y0);
    for (long size : sizes) {
      text(
          across.at((double) size),
          y0 + TOP + PLOT_HEIGHT + 16,
          "middle",
          new Figure("", size).size());
    }
    for (double tick = Math.pow(10, Math.ceil(Math.log10(least))); tick <= most; tick *= 10) {
      add(
          "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>",
          x0 + LEFT, x0 + LEFT + PLOT_WIDTH, up.at(tick), up.at(tick));
      text(
          x0 + LEFT - 6,
          up.at(tick) + 4,
          "end",
          String.format(Locale.ROOT, "%g", tick).replaceAll("\\.?0+$", ""));
    }
    lines.forEach(
        (way, line) -> {
          StringBuilder points = new StringBuilder();
          line.forEach(
              (bytes, rate) ->
                  points.append(
                      String.format(
                          Locale.ROOT, "%.1f,%.1f ", across.at((double) bytes), up.at(rate))));
          add(
              "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>",
              points.toString().strip(),
              colour(way),
              way.equals(RemotingResults.PLAIN) ? " stroke-dasharray=\"4 3\"" : "");
        });
  }

  private static double rate(long bytes, Measured measured) {
    return measured.unit().equals("us")
        ? (double) bytes / measured.value() / 1e3
        : measured.value();
  }

  private void frame(int x0, int y0) {
    add(
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999999\"/>",
        x0 + LEFT, y0 + TOP, PLOT_WIDTH, PLOT_HEIGHT);
  }

  /** Times of calls as bars, logarithmic. */
  private void calls(int x0, int y0) {
    List<String> ways =
        results.ways().keySet().stream().filter(way -> !way.equals(RemotingResults.PLAIN)).toList();
    List<Figure> shown =
        results.figures().stream().filter(figure -> CALLS.contains(figure.name())).toList();
    double least = Double.MAX_VALUE;
    double most = 0;
    for (String way : ways) {
      for (Figure figure : shown) {
        Measured value = results.ways().get(way).get(figure);
        if (value != null && value.value() > 0) {
          least = Math.min(least, value.value());
          most = Math.max(most, value.value());
        }
      }
    }
    if (shown.isEmpty() || most == 0) {
      return;
    }
    int width = 2 * PANEL_WIDTH - 2 * LEFT;
    text(x0 + LEFT, y0 + TOP - 12, "start", "time of calls, us (logarithmic)");
    Scale up = new Scale(least / 2, most, 0, PLOT_HEIGHT);
    double group = (double) width / shown.size();
    double bar = group * 0.8 / ways.size();
    for (int i = 0; i < shown.size(); i++) {
      text(
          x0 + LEFT + group * (i + 0.4),
          y0 + TOP + PLOT_HEIGHT + 16,
          "middle",
          shown.get(i).name());
      for (int k = 0; k < ways.size(); k++) {
        Measured value = results.ways().get(ways.get(k)).get(shown.get(i));
        if (value == null || value.value() <= 0) {
          continue;
        }
        double x = x0 + LEFT + group * i + bar * k;
        double high = up.at(value.value());
        add(
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
            x, y0 + TOP + PLOT_HEIGHT - high, bar * 0.9, high, colour(ways.get(k)));
        text(
            x + bar * 0.45,
            y0 + TOP + PLOT_HEIGHT - high - 3,
            "middle",
            String.format(Locale.ROOT, "%.3g", value.value()));
      }
    }
  }

  /** Logarithmic. */
  private record Scale(double from, double to, double start, double length) {
    double at(double value) {
      double span = Math.log(to) - Math.log(from);
      return start + (span == 0 ? 0.5 : (Math.log(value) - Math.log(from)) / span) * length;
    }
  }
}
