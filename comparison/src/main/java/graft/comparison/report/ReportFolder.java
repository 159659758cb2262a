package graft.comparison.report;

import graft.comparison.suite.Published;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * The folder of a comparison: its log and its report.
 *
 * <p>A full disk must not prevent the report. Therefore disk space for the report is reserved at
 * the beginning and freed before each report is written; a new file replaces the previous one only
 * once it is complete.
 */
public final class ReportFolder {
  private static final int ROOM = 8 << 20;

  private final Path folder;

  private ReportFolder(Path folder) {
    this.folder = folder;
  }

  /** Creates the folder, or opens the folder of a comparison that was begun earlier. */
  public static ReportFolder open(Path folder) throws IOException {
    Files.createDirectories(folder);
    ReportFolder opened = new ReportFolder(folder);
    opened.takeRoom();
    return opened;
  }

  public Path log() {
    return folder.resolve("results.jsonl");
  }

  /** The HTML report. */
  public Path html() {
    return folder.resolve("report.html");
  }

  private Path room() {
    return folder.resolve(".room");
  }

  /** Writes real bytes, since a sparse file reserves no space. */
  private void takeRoom() throws IOException {
    if (!Files.exists(room())) {
      Files.write(room(), new byte[ROOM]);
    }
  }

  /**
   * Frees the reserved space, for the report and for the log entry that gives the reason of a stop.
   */
  public void giveRoom() throws IOException {
    Files.deleteIfExists(room());
  }

  /** The folder of the figures. */
  public Path figures() {
    return folder.resolve("figures");
  }

  /**
   * Writes report.html, appendix.html, results.csv and results.json, and then the figures.
   *
   * @return why the figures are not there as PDF; empty if they are
   */
  public Optional<String> write(Findings findings, List<Published> published, String suiteText)
      throws IOException {
    HtmlReport pages = new HtmlReport(findings, published, suiteText);
    String csv = CsvReport.write(findings);
    String json = JsonReport.write(findings, published, suiteText);
    giveRoom();
    replace(html(), pages.report());
    replace(folder.resolve("appendix.html"), pages.appendix());
    replace(folder.resolve("results.csv"), csv);
    replace(folder.resolve("results.json"), json);
    return new FigureFiles(figures(), FigureFiles.CONVERTER)
        .write(pages.figures(), pages.palette());
  }

  static void replace(Path file, String text) throws IOException {
    Path whole = file.resolveSibling("." + file.getFileName() + ".new");
    try {
      Files.write(whole, text.getBytes(StandardCharsets.UTF_8));
      Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.deleteIfExists(whole);
      throw e;
    }
  }
}
