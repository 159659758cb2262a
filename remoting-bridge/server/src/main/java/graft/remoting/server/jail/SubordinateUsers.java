package graft.remoting.server.jail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ranges of users and groups that containers map their own users to (subuid(5), subgid(5)). A
 * container with the user of a worker could trace and kill the worker.
 */
public final class SubordinateUsers {
  private static final Pattern RANGE = Pattern.compile("([^:#]*):(\\d{1,10}):(\\d{1,10})");
  private static final List<String> FILES = List.of("subuid", "subgid");

  private SubordinateUsers() {}

  /**
   * Returns the first line that has a user of the workers, with its file; empty if none has.
   *
   * @param folder the folder of the files, {@code /etc}
   */
  public static Optional<String> overlap(Path folder, JailConfig config) {
    for (String name : FILES) {
      Path file = folder.resolve(name);
      List<String> lines;
      try {
        lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
      } catch (IOException e) {
        return Optional.of("cannot read " + file + ": " + e.getMessage());
      }
      for (String line : lines) {
        Matcher range = RANGE.matcher(line.strip());
        if (range.matches()) {
          long first = Long.parseLong(range.group(2));
          long last = first + Long.parseLong(range.group(3)) - 1;
          if (first <= config.lastUser() && last >= config.firstUser()) {
            return Optional.of(file + " has " + line.strip());
          }
        }
      }
    }
    return Optional.empty();
  }
}
