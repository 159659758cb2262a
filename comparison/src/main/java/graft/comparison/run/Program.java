package graft.comparison.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program to run in a place.
 *
 * @param environment settings beyond those that the place makes
 * @param limit how long it may run, then it is killed
 * @param profile whether the client shall break its time down
 */
public record Program(
    List<String> words, Map<String, String> environment, Duration limit, boolean profile) {

  /** The same, profiled. */
  public Program profiled() {
    return new Program(words, environment, limit, true);
  }
}
