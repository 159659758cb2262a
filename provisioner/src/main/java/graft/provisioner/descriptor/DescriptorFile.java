package graft.provisioner.descriptor;

import graft.provisioner.bind.Positions;
import java.nio.file.Path;

/**
 * A valid descriptor and where it came from.
 *
 * @param path the file as the user named it
 * @param positions where its parts stand in the file
 */
public record DescriptorFile(Descriptor descriptor, Path path, Positions positions) {

  /** A file that the descriptor names: relative names count from the descriptor's folder. */
  public Path resolve(String named) {
    String home = System.getProperty("user.home");
    String expanded = named.startsWith("~/") ? home + named.substring(1) : named;
    return path.toAbsolutePath().resolveSibling(expanded).normalize();
  }
}
