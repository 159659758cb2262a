package graft.comparison.site;

import graft.comparison.suite.Published;
import graft.comparison.suite.Suite;
import java.nio.file.Path;
import java.util.List;

/**
 * A valid suite and the file from which it was read.
 *
 * @param text the file's text, for the report
 * @param published the figures from the suite's files of published figures
 */
public record SuiteFile(Suite suite, Path path, String text, List<Published> published) {

  /** Resolves a file name in the suite: relative names are relative to the suite's folder. */
  public Path resolve(String named) {
    return path.toAbsolutePath().resolveSibling(named).normalize();
  }
}
