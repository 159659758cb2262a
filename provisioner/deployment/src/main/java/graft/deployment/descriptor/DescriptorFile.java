package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.guests.image.ImageKind;
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
    return resolve(named, ImageKind.DISK);
  }

  /** What a container's root folder is made from; {@code debian:12} is one that Graft keeps. */
  public Path resolveRoot(String named) {
    return resolve(named, ImageKind.ROOT);
  }

  private Path resolve(String named, ImageKind kind) {
    Optional<ImageName> kept = ImageName.of(named);
    if (kept.isPresent()) {
      return ImageStore.of(System.getenv()).file(kept.get(), kind);
    }
    String home = System.getProperty("user.home");
    String expanded = named.startsWith("~/") ? home + named.substring(1) : named;
    return path.toAbsolutePath().resolveSibling(expanded).normalize();
  }
}
