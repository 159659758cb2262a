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
  /** Debian's names of the releases that the recipes install, by the image's version. */
  private static final Map<String, String> SUITES = Map.of("12", "bookworm", "13", "trixie");

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

  /** The programs of the recipe that begins with a distribution's cloud image. */
  private static final Map<String, String> FROM_PROGRAMS =
      Map.of(
          "qemu-system-x86_64", "qemu-system-x86",
          "qemu-img", "qemu-utils",
          "mkfs.vfat", "dosfstools",
          "mcopy", "mtools");

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
   * Builds an image of Debian.
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
    String suite = name.system().equals("debian") ? SUITES.get(name.version()) : null;
    if (suite == null) {
      throw new GraftException(
          "there is no recipe for '" + name + "'",
          "debian:12 and debian:13 have one; graft image build "
              + name
              + " --from FILE makes it of the distribution's cloud image, and graft image import"
              + " takes an image as it is");
    }
    boolean disk = kind == ImageKind.DISK;
    List<String> words = new ArrayList<>(List.of("--suite", suite));
    words.addAll(options);
    words.add(file.toString());
    words.addAll(packages);
    run(
        name,
        disk ? "cloud.sh" : "container.sh",
        disk ? PROGRAMS : ROOT_PROGRAMS,
        words,
        "graft image build needs root",
        log);
  }

  /**
   * Builds an image of a distribution's cloud image: boots it once, and installs the guest agent
   * and these packages by the distribution's own package manager.
   *
   * @param image a disk image that {@link ImageStore#check} has accepted
   */
  public static void buildFrom(
      ImageName name, Path image, Path file, List<String> packages, OutputStream log) {
    List<String> words = new ArrayList<>(List.of(image.toString(), file.toString()));
    words.addAll(packages);
    run(
        name,
        "from.sh",
        FROM_PROGRAMS,
        words,
        "its console, above, says what the image's own system did",
        log);
  }

  private static void run(
      ImageName name,
      String script,
      Map<String, String> programs,
      List<String> arguments,
      String hint,
      OutputStream log) {
    Path recipe = ClientFolder.home().resolve("lib/image/" + script);
    if (!Files.exists(recipe)) {
      throw new GraftException("the recipe " + recipe + " is missing", "run ./graft build");
    }
    List<String> missing = missingPackages(programs, System.getenv());
    if (!missing.isEmpty()) {
      throw new GraftException(
          "the image '" + name + "' cannot be built: this machine lacks programs for it",
          "apt-get install " + String.join(" ", missing));
    }
    List<String> words = new ArrayList<>(List.of(recipe.toString()));
    words.addAll(arguments);
    try {
      HostProgram.of("bash", words).succeed(LIMIT, log);
    } catch (IOException e) {
      throw new GraftException(
          "the image '" + name + "' could not be built: " + e.getMessage(), hint, e);
    }
  }
}
