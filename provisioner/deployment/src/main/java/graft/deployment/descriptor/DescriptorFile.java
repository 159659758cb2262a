package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.guests.image.ImageName;
import graft.guests.image.ImageStore;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A valid descriptor and where it came from.
 *
 * @param path the file as the user named it
 * @param positions the positions of its parts in the file
 */
public record DescriptorFile(Descriptor descriptor, Path path, Positions positions) {

  /**
   * A file that the descriptor names: relative names start at the descriptor's folder, and {@code
   * debian:12} is an image that Graft keeps.
   */
  public Path resolve(String named) {
    Optional<ImageName> kept = ImageName.of(named);
    if (kept.isPresent()) {
      return ImageStore.of(System.getenv()).file(kept.get());
    }
    String home = System.getProperty("user.home");
    String expanded = named.startsWith("~/") ? home + named.substring(1) : named;
    return path.toAbsolutePath().resolveSibling(expanded).normalize();
  }
}
