package graft.comparison.report;

import graft.common.json.Json;
import graft.common.program.HostProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The figures of a report in a folder: each as SVG, as PDF and as CSV, with figures.json, which
 * describes their axes, and plot.py, which draws them from these with matplotlib.
 */
final class FigureFiles {
  /** Converts SVG to PDF. Debian has the program in the package librsvg2-bin. */
  static final String CONVERTER = "rsvg-convert";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Path folder;
  private final String converter;

  FigureFiles(Path folder, String converter) {
    this.folder = folder;
    this.converter = converter;
  }

  /**
   * Writes the figures, and removes those of an earlier report.
   *
   * @return why there are no PDFs; empty if there are
   */
  Optional<String> write(List<Figure> figures, Palette palette) throws IOException {
    Files.createDirectories(folder);
    try (Stream<Path> before = Files.list(folder)) {
      for (Path file :
          before.filter(f -> f.getFileName().toString().matches("figure-.*")).toList()) {
        Files.delete(file);
      }
    }
    for (Figure figure : figures) {
      ReportFolder.replace(folder.resolve(figure.name() + ".svg"), figure.svg(palette));
      ReportFolder.replace(folder.resolve(figure.name() + ".csv"), figure.csv());
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("figures", figures.stream().map(figure -> figure.tree(palette)).toList());
    ReportFolder.replace(folder.resolve("figures.json"), Json.pretty(tree) + "\n");
    ReportFolder.replace(folder.resolve("plot.py"), Html.resource("plot.py"));
    return convert(figures);
  }

  private Optional<String> convert(List<Figure> figures) {
    for (Figure figure : figures) {
      try {
        HostProgram.of(
                converter,
                List.of(
                    "--format=pdf",
                    "--output",
                    folder.resolve(figure.name() + ".pdf").toString(),
                    folder.resolve(figure.name() + ".svg").toString()))
            .output(LIMIT);
      } catch (IOException e) {
        return Optional.of(
            "the figures are not there as PDF: "
                + converter
                + " did not convert "
                + figure.name()
                + ".svg ("
                + e.getMessage()
                + "); install librsvg2-bin and write the report again with --report-only, or draw"
                + " them with python3 "
                + folder.resolve("plot.py"));
      }
    }
    return Optional.empty();
  }
}
