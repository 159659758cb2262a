package graft.cli.deployment;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What a demonstration did, as one page of HTML without scripts and without other files.
 *
 * @param rows the guests, each with {@code name}, {@code bootSeconds}, {@code program}, {@code
 *     device} and {@code result}
 * @param costs a sentence about the times and the memory
 */
record DemoPage(List<Map<String, Object>> rows, String plan, String status, String costs) {
  private static final List<String> COLUMNS =
      List.of("name", "bootSeconds", "program", "device", "result");
  private static final List<String> TITLES =
      List.of("guest", "seconds to boot", "program", "device", "result");
  private static final String STYLE =
      """
      body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 15px/1.5 sans-serif; color: #1d2329; }
      table { border-collapse: collapse; }
      td, th { padding: 3px 12px 3px 0; text-align: left; border-bottom: 1px solid #d9dee3; }
      pre { background: #f5f7f9; padding: 12px; white-space: pre-wrap; }
      """;

  /**
   * Writes the page.
   *
   * @throws GraftException if the file cannot be written
   */
  void write(Path file) {
    try {
      Files.write(file, html().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new GraftException("cannot write " + file + ": " + e, "name another --page FILE", e);
    }
  }

  String html() {
    StringBuilder page = new StringBuilder();
    page.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>");
    page.append("<title>graft demo</title><style>").append(STYLE).append("</style></head><body>");
    page.append("<h1>graft demo</h1><p>Guests without a GPU ran a CUDA program on a GPU of the");
    page.append(" host.</p><table><tr>");
    TITLES.forEach(title -> page.append("<th>").append(title).append("</th>"));
    page.append("</tr>");
    for (Map<String, Object> row : rows) {
      page.append("<tr>");
      COLUMNS.forEach(
          column ->
              page.append("<td>").append(escaped(row.getOrDefault(column, ""))).append("</td>"));
      page.append("</tr>");
    }
    page.append("</table><p>").append(escaped(costs)).append("</p>");
    page.append("<h2>graft plan</h2><pre>").append(escaped(plan)).append("</pre>");
    page.append("<h2>graft status</h2><pre>").append(escaped(status)).append("</pre>");
    return page.append("</body></html>\n").toString();
  }

  /** Guests choose some of the texts: their names of devices, and what their programs say. */
  private static String escaped(Object value) {
    return String.valueOf(value)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
