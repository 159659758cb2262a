package graft.guests.bundle;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A bundle and its origin.
 *
 * @param folder the bundle's folder; absent for a built-in bundle
 */
public record FoundBundle(Bundle bundle, Optional<Path> folder) {

  /**
   * The path on this machine of a source, with the source's variables replaced.
   *
   * @throws IllegalArgumentException with a message for the user if the source has no path
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
