package graft.guests.bundle;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A bundle and where it came from.
 *
 * @param folder its own folder; absent for one that is built in
 */
public record FoundBundle(Bundle bundle, Optional<Path> folder) {

  /**
   * A source with its variables replaced, as a path of this machine.
   *
   * @throws IllegalArgumentException with a message for the user if it has none
   */
  public Path source(String source, Variables variables) {
    Path path = Path.of(variables.expand(source));
    if (path.isAbsolute()) {
      return path.normalize();
    }
    return folder
        .map(own -> own.resolve(path).normalize())
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'" + path + "' is not absolute, and a bundle that is built in has no folder"));
  }
}
