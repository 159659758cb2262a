package graft.guests.image;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.common.program.CurrentUser;
import graft.common.program.HostProgram;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A folder of images, each with a file {@code .sha256} beside the image. Guests get copy-on-write
 * copies, so that an image must not change: a new version is a new file, and guests that have the
 * old file open continue to use it.
 */
public final class ImageStore {
  private static final Path SYSTEM = Path.of("/var/lib/libvirt/images/graft-images");
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private final Path folder;

  public ImageStore(Path folder) {
    this.folder = folder;
  }

  /**
   * The store of this user: {@code GRAFT_IMAGE_DIR} if set; else for root a folder that root's
   * libvirt may read, and for others a folder beside the state folder.
   */
  public static ImageStore of(Map<String, String> environment) {
    String given = environment.getOrDefault("GRAFT_IMAGE_DIR", "");
    if (!given.isEmpty()) {
      return new ImageStore(Path.of(given).toAbsolutePath());
    }
    return new ImageStore(
        CurrentUser.isRoot()
            ? SYSTEM
            : CurrentUser.stateFolder(environment).resolveSibling("graft-images"));
  }

  /** The disk of an image, which need not exist. */
  public Path file(ImageName name) {
    return file(name, ImageKind.DISK);
  }

  /** The file of an image, which need not exist. */
  public Path file(ImageName name, ImageKind kind) {
    return folder.resolve(name.file(kind));
  }

  /** The files of all images in the store. */
  public List<Path> files() {
    return Arrays.stream(ImageKind.values())
        .flatMap(kind -> files(kind).stream())
        .sorted()
        .toList();
  }

  /** The files of all images of a kind. */
  public List<Path> files(ImageKind kind) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(folder)) {
      return children
          .filter(file -> file.toString().endsWith("." + kind.suffix()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw failure("list", folder, e);
    }
  }

  /** The checksum that was recorded when an image was imported; empty if there is none. */
  public Optional<String> noted(Path image) {
    Path note = note(image);
    try {
      return Files.exists(note)
          ? Optional.of(Files.readString(note).replaceFirst("\\s(?s:.*)", ""))
          : Optional.empty();
    } catch (IOException e) {
      throw failure("read", note, e);
    }
  }

  private static Path note(Path image) {
    return image.resolveSibling(image.getFileName() + ".sha256");
  }

  /** A path for a new file beside the images. */
  public Path unfinished(ImageName name, ImageKind kind) {
    try {
      Files.createDirectories(folder);
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
      Path file = folder.resolve(name.file(kind) + ".unfinished");
      Files.deleteIfExists(file);
      return file;
    } catch (IOException e) {
      throw failure("make", folder, e);
    }
  }

  /**
   * Imports a file of {@link #unfinished}, replacing an older image of that name.
   *
   * @return the image's checksum
   */
  public String keep(ImageName name, ImageKind kind, Path unfinished) {
    try {
      String sum = sha256(unfinished);
      Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rw-r--r--"));
      Files.writeString(note(file(name, kind)), sum + "  " + name.file(kind) + "\n");
      Files.move(
          unfinished,
          file(name, kind),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
      return sum;
    } catch (IOException e) {
      throw failure("keep", unfinished, e);
    }
  }

  /**
   * Imports a copy of a disk image, in any format that QEMU supports.
   *
   * @param expected the image's checksum, if known
   * @return the checksum of the copy
   * @throws GraftException if the checksum differs, or if the image refers to other files
   */
  public String take(ImageName name, Path image, Optional<String> expected) {
    check(image, expected);
    Path unfinished = unfinished(name, ImageKind.DISK);
    try {
      qemuImg("convert", "-O", "qcow2", "--", name(image), unfinished.toString());
      return keep(name, ImageKind.DISK, unfinished);
    } finally {
      delete(unfinished);
    }
  }

  /**
   * Accepts a disk image that somebody else made.
   *
   * @param expected the image's checksum, if known
   * @throws GraftException if the checksum differs, or if the image refers to other files
   */
  public static void check(Path image, Optional<String> expected) {
    if (expected.isPresent()) {
      String sum = sha256(image);
      if (!sum.equalsIgnoreCase(expected.get())) {
        throw new GraftException(
            "the SHA-256 of " + image + " is " + sum + ", and not " + expected.get(),
            "it is damaged or another file: fetch it again");
      }
    }
    standsAlone(image);
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw failure("remove", file, e);
    }
  }

  /** Rejects an image that refers to other files, because QEMU would read these files as root. */
  private static void standsAlone(Path image) {
    String said = qemuImg("info", "--output=json", "--", name(image));
    try {
      Map<String, Object> info = Json.readObject(said);
      Object special = info.get("format-specific");
      boolean data = special != null && special.toString().contains("data-file");
      if (info.containsKey("backing-filename") || data) {
        throw new GraftException(
            image + " is not a complete image: its content is in another file",
            "make a complete one by qemu-img convert where both files are");
      }
    } catch (IOException e) {
      throw failure("understand what qemu-img says of", image, e);
    }
  }

  /**
   * The file's name for QEMU. A relative name could begin with a protocol, such as {@code nbd:} or
   * {@code json:}.
   */
  private static String name(Path image) {
    return image.toAbsolutePath().toString();
  }

  private static String qemuImg(String... arguments) {
    try {
      return HostProgram.of("qemu-img", List.of(arguments)).output(LIMIT);
    } catch (IOException e) {
      throw new GraftException(
          "qemu-img " + arguments[0] + " failed: " + e.getMessage(),
          "is qemu-utils installed, and is it a disk image?",
          e);
    }
  }

  /** The checksum of a file, in hexadecimal. */
  public static String sha256(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      new DigestInputStream(in, digest).transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException e) {
      throw failure("read", file, e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static GraftException failure(String action, Path file, IOException e) {
    return new GraftException("cannot " + action + " " + file + ": " + e, "", e);
  }
}
