package graft.comparison.report;

import graft.comparison.suite.Published;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * The folder that a comparison is kept in: its log, and the report of it.
 *
 * <p>A full disk must not cost the report. So room for it is taken at the beginning, and given back
 * before each report is written; a file takes the place of the one before only once it is whole.
 */
public final class ReportFolder {
  private static final int ROOM = 8 << 20;

  private final Path folder;

  private ReportFolder(Path folder) {
    this.folder = folder;
  }

  /** Makes the folder, or takes one that a comparison was begun in. */
  public static ReportFolder open(Path folder) throws IOException {
    Files.createDirectories(folder);
    ReportFolder opened = new ReportFolder(folder);
    opened.takeRoom();
    return opened;
  }

  public Path log() {
    return folder.resolve("results.jsonl");
  }

  /** The file for people. */
  public Path html() {
    return folder.resolve("report.html");
  }

  private Path room() {
    return folder.resolve(".room");
  }

  /** Bytes that are written, not a hole: a hole takes no room. */
  private void takeRoom() throws IOException {
    if (!Files.exists(room())) {
      Files.write(room(), new byte[ROOM]);
    }
  }

  /** Gives back the room that was taken: to say why a comparison stops, and for the report. */
  public void giveRoom() throws IOException {
    Files.deleteIfExists(room());
  }

  /** Writes report.html, results.csv and results.json. */
  public void write(Findings findings, List<Published> published, String suiteText)
      throws IOException {
    String html = new HtmlReport(findings, published, suiteText).write();
    String csv = CsvReport.write(findings);
    String json = JsonReport.write(findings, published, suiteText);
    giveRoom();
    replace(html(), html);
    replace(folder.resolve("results.csv"), csv);
    replace(folder.resolve("results.json"), json);
  }

  private static void replace(Path file, String text) throws IOException {
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
