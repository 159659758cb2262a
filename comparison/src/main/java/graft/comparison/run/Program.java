package graft.comparison.run;

import graft.comparison.local.CompilerCaches;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A program to run in a place.
 *
 * @param environment variables in addition to those that the place sets
 * @param limit the time after which the program is killed
 * @param profile whether the client breaks down the program's time
 */
public record Program(
    List<String> words, Map<String, String> environment, Duration limit, boolean profile) {

  /** This program with all caches of compiled kernels in a folder of the place. */
  public Program withCaches(String folder) {
    Map<String, String> more = new LinkedHashMap<>(environment);
    more.putAll(CompilerCaches.in(folder));
    return new Program(words, more, limit, profile);
  }

  /** This program with a breakdown of its time. */
  public Program profiled() {
    return new Program(words, environment, limit, true);
  }
}
