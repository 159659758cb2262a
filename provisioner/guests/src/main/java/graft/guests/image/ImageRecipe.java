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
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Builds images by the recipes that come with Graft. */
public final class ImageRecipe {
  private static final ImageName DEBIAN_12 = new ImageName("debian", "12");
  private static final Duration LIMIT = Duration.ofMinutes(30);

  /** The programs of the recipe of disks, each with the package of Debian that has it. */
  private static final Map<String, String> PROGRAMS =
      Map.of(
          "mmdebstrap", "mmdebstrap",
          "qemu-img", "qemu-utils",
          "mke2fs", "e2fsprogs",
          "sfdisk", "fdisk",
          "mkfs.vfat", "dosfstools",
          "mcopy", "mtools",
          "syslinux", "syslinux");

  private static final Map<String, String> ROOT_PROGRAMS = Map.of("mmdebstrap", "mmdebstrap");

  private ImageRecipe() {}

  /** The packages that this machine lacks for building a disk, in alphabetical order. */
  public static List<String> missingPackages(Map<String, String> environment) {
    return missingPackages(PROGRAMS, environment);
  }

  private static List<String> missingPackages(
      Map<String, String> programs, Map<String, String> environment) {
    Set<String> missing = new TreeSet<>();
    programs.forEach(
        (program, debian) -> {
          if (!HostProgram.isThere(program, environment)) {
            missing.add(debian);
          }
        });
    if (missing.contains("syslinux")) {
      missing.add("syslinux-common"); // has the boot sector, and no program
    }
    return List.copyOf(missing);
  }

  /**
   * Builds an image.
   *
   * @param options the recipe's options, which precede the file
   * @param packages additional packages
   * @param log receives the output of the recipe
   */
  public static void build(
      ImageName name,
      ImageKind kind,
      Path file,
      List<String> options,
      List<String> packages,
      OutputStream log) {
    if (!name.equals(DEBIAN_12)) {
      throw new GraftException(
          "there is no recipe for '" + name + "'",
          "debian:12 has one; graft image import takes any other image");
    }
    boolean disk = kind == ImageKind.DISK;
    Path recipe = ClientFolder.home().resolve("lib/image/" + (disk ? "cloud.sh" : "container.sh"));
    if (!Files.exists(recipe)) {
      throw new GraftException("the recipe " + recipe + " is missing", "run ./graft build");
    }
    List<String> missing = missingPackages(disk ? PROGRAMS : ROOT_PROGRAMS, System.getenv());
    if (!missing.isEmpty()) {
      throw new GraftException(
          "the image '" + name + "' cannot be built: this machine lacks programs for it",
          "apt-get install " + String.join(" ", missing));
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
          "graft image build needs root",
          e);
    }
  }
}
