package graft.comparison.site;

import graft.comparison.suite.Published;
import graft.comparison.suite.Suite;
import java.nio.file.Path;
import java.util.List;

/**
 * A valid suite and where it came from.
 *
 * @param text the file's text, for the report
 * @param published what the suite's files with published figures hold
 */
public record SuiteFile(Suite suite, Path path, String text, List<Published> published) {

  /** A file that the suite names: relative names count from the suite's folder. */
  public Path resolve(String named) {
    return path.toAbsolutePath().resolveSibling(named).normalize();
  }
}
