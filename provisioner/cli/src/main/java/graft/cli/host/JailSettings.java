package graft.cli.host;

import graft.common.GraftException;
import graft.common.values.MemorySize;
import graft.remoting.server.jail.JailConfig;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** How {@code graft serve} confines its workers. */
final class JailSettings {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,9}|1\\d{9})-(\\d{1,9}|1\\d{9})");

  @Option(
      names = "--require-isolation",
      description =
          "Ends with exit code 4 if this host cannot confine workers by all means of docs/security.md;"
              + " without this option the server starts and reports the missing means.")
  boolean required;

  @Option(
      names = "--worker-users",
      paramLabel = "FIRST-LAST",
      description =
          "The users (and groups) that workers run as, one worker each, as numbers without an account"
              + " (default: 1990000000-1990009999). For a server that runs as root.")
  String users;

  @Option(
      names = "--worker-memory",
      paramLabel = "SIZE",
      description = "The limit of a worker's memory (default: half of this host's).")
  MemorySize memory;

  @Option(
      names = "--worker-threads",
      paramLabel = "N",
      description = "The limit of a worker's threads (default: 4096).")
  Integer threads;

  JailConfig config() {
    JailConfig config = JailConfig.defaults().withRequired(required);
    try {
      if (users != null) {
        Matcher range = RANGE.matcher(users);
        if (!range.matches()) {
          throw new GraftException(
              "--worker-users " + users + " is not a range of users", "write FIRST-LAST");
        }
        config =
            config.withUsers(Integer.parseInt(range.group(1)), Integer.parseInt(range.group(2)));
      }
      if (memory != null) {
        config = config.withMemory(memory.bytes());
      }
      return threads == null ? config : config.withThreads(threads);
    } catch (IllegalArgumentException e) {
      throw new GraftException(e.getMessage(), "see graft serve --help", e);
    }
  }
}
