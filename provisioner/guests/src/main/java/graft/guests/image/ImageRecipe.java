package graft.guests.image;

import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.program.HostProgram;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Builds images by the recipes that come with Graft. */
public final class ImageRecipe {
  private static final ImageName DEBIAN_12 = new ImageName("debian", "12");
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private ImageRecipe() {}

  /**
   * Builds an image.
   *
   * @param options the recipe's options, which precede the file
   * @param packages additional packages
   * @param log receives the output of the recipe
   */
  public static void build(
      ImageName name, Path file, List<String> options, List<String> packages, OutputStream log) {
    if (!name.equals(DEBIAN_12)) {
      throw new GraftException(
          "there is no recipe for '" + name + "'",
          "debian:12 has one; graft image import takes any other image");
    }
    Path recipe = ClientFolder.home().resolve("lib/image/cloud.sh");
    if (!Files.exists(recipe)) {
      throw new GraftException("the recipe " + recipe + " is missing", "run ./graft build");
    }
    List<String> words = new ArrayList<>(List.of(recipe.toString()));
    words.addAll(options);
    words.add(file.toString());
    words.addAll(packages);
    try {
      HostProgram.of("bash", words).succeed(LIMIT, log);
    } catch (IOException e) {
      throw new GraftException(
          "the image '" + name + "' could not be built: " + e.getMessage(),
          "it needs root, and: apt-get install mmdebstrap qemu-utils e2fsprogs fdisk dosfstools"
              + " mtools syslinux syslinux-common",
          e);
    }
  }
}
