package graft.guests.container;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * An archive with a root file system, read from its beginning to its end: an initramfs (cpio) or a
 * tar archive, as it is or compressed with gzip.
 */
interface RootArchive extends AutoCloseable {
  /** How a cpio archive of the formats "newc" and "crc" begins. */
  String CPIO = "07070";

  String GZIP = "\u001f\u008b";

  /** The name of the format in the first header of a tar archive (POSIX.1-1988, and GNU's). */
  String TAR = "ustar";

  /** Where {@link #TAR} is. */
  int TAR_AT = 257;

  /** The longest path of a symbolic link in Linux. */
  int LONGEST_LINK = 4096;

  /**
   * A file of the archive.
   *
   * @param name its path as the archive has it
   * @param mode its type and permissions, as in {@code struct stat}
   * @param user its owner's number in the container
   * @param group its group's number in the container
   * @param target where it leads, if it is a symbolic link; else empty
   * @param same another name of the same file, which came before
   * @param size the bytes of its content that are here
   */
  record Member(
      String name,
      int mode,
      long user,
      long group,
      String target,
      Optional<String> same,
      long size) {
    boolean is(int type) {
      return (mode & RootTree.Node.TYPE) == type;
    }

    /** The path without {@code ./} or {@code /} at its beginning; empty for the root itself. */
    String path() {
      return plain(name);
    }
  }

  /** The next file; empty at the end. */
  Optional<Member> next() throws IOException;

  /** The content of the file that {@link #next} has returned; it must not be closed. */
  InputStream content();

  @Override
  void close() throws IOException;

  /** A path without {@code ./} or {@code /} at its beginning; empty for the root itself. */
  static String plain(String name) {
    String path = name;
    while (path.startsWith("./") || path.startsWith("/")) {
      path = path.substring(path.indexOf('/') + 1);
    }
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    return path.equals(".") ? "" : path;
  }

  /** Whether a file begins like an archive that can be read. */
  static boolean isArchive(Path file) throws IOException {
    try (InputStream in = uncompressed(file)) {
      String head = head(in, TAR_AT + TAR.length());
      return head.startsWith(CPIO) || head.startsWith(TAR, TAR_AT);
    }
  }

  /**
   * Opens an archive.
   *
   * @throws IOException if it cannot be read, or is of neither format
   */
  static RootArchive open(Path file) throws IOException {
    InputStream in = uncompressed(file);
    try {
      String head = head(in, TAR_AT + TAR.length());
      if (head.startsWith(CPIO)) {
        return new CpioRoot(in);
      } else if (head.startsWith(TAR, TAR_AT)) {
        return new TarRoot(in);
      }
      throw new IOException("it is neither a cpio nor a tar archive");
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  private static InputStream uncompressed(Path file) throws IOException {
    InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    try {
      return head(in, GZIP.length()).equals(GZIP)
          ? new BufferedInputStream(new GZIPInputStream(in, 1 << 16), 1 << 16)
          : in;
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** The first bytes, as characters; they are read again. */
  private static String head(InputStream in, int length) throws IOException {
    in.mark(length);
    byte[] head = in.readNBytes(length);
    in.reset();
    return new String(head, StandardCharsets.ISO_8859_1);
  }
}
