package graft.cli.host;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;

/** The file of a {@link CdiSpec}, which every user's container engine reads. */
final class CdiFile {
  private static final long LARGEST = 16 << 20;

  private final Path path;

  CdiFile(Path path) {
    this.path = path.toAbsolutePath();
  }

  /**
   * What the file holds; no devices if there is none.
   *
   * @throws GraftException if it is a file of somebody else's
   */
  CdiSpec read() {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return new CdiSpec(Map.of());
    }
    try {
      if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) || Files.size(path) > LARGEST) {
        throw new IllegalArgumentException("it is no file of a usual size");
      }
      return CdiSpec.read(Files.readString(path));
    } catch (IOException | IllegalArgumentException e) {
      throw new GraftException(
          path + " was not written by graft cdi, and stays as it is: " + e.getMessage(),
          "name another file with --out",
          e);
    }
  }

  /** Replaces the file at once, so that an engine reads the old one or the new one. */
  void write(CdiSpec spec) {
    Set<PosixFilePermission> readable = PosixFilePermissions.fromString("rw-r--r--");
    FileAttribute<?> own = PosixFilePermissions.asFileAttribute(readable);
    try {
      Files.createDirectories(path.getParent());
      Path unfinished = Files.createTempFile(path.getParent(), ".graft-cdi", ".unfinished", own);
      try {
        Files.write(unfinished, spec.text().getBytes(StandardCharsets.UTF_8));
        Files.setPosixFilePermissions(unfinished, readable); // whatever the umask is
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(unfinished);
      }
    } catch (IOException e) {
      throw new GraftException("cannot write " + path + ": " + e, "", e);
    }
  }

  void delete() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new GraftException("cannot delete " + path + ": " + e, "", e);
    }
  }
}
