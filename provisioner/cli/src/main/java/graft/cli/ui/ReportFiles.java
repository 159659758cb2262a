package graft.cli.ui;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Finds the reports that {@code graft compare} has written. They are named and not served. */
final class ReportFiles {
  private static final String NAME = "report.html";
  private static final int MOST = 100;

  private ReportFiles() {}

  /** The reports in these folders and in the folders directly in them, the newest first. */
  static List<Map<String, Object>> in(List<Path> folders) {
    List<Map<String, Object>> found = new ArrayList<>();
    for (Path folder : folders) {
      add(folder, found);
      try (Stream<Path> children = Files.list(folder)) {
        children.filter(Files::isDirectory).forEach(child -> add(child, found));
      } catch (IOException e) {
        // a folder that is not there yet has no reports
      }
    }
    return found.stream()
        .sorted((a, b) -> b.get("at").toString().compareTo(a.get("at").toString()))
        .limit(MOST)
        .toList();
  }

  private static void add(Path folder, List<Map<String, Object>> found) {
    Path report = folder.resolve(NAME).toAbsolutePath().normalize();
    try {
      BasicFileAttributes file = Files.readAttributes(report, BasicFileAttributes.class);
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("path", report.toString());
      tree.put("at", file.lastModifiedTime().toInstant().truncatedTo(ChronoUnit.SECONDS));
      tree.put("bytes", file.size());
      found.add(tree);
    } catch (IOException e) {
      // there is none
    }
  }
}
