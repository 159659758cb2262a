package graft.guests.container;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.cpio.CpioArchiveEntry;
import org.apache.commons.compress.archivers.cpio.CpioArchiveInputStream;
import org.apache.commons.compress.archivers.cpio.CpioConstants;

/** A root file system in an initramfs: a cpio archive, which may be compressed with gzip. */
record ArchiveTree(Map<String, Node> nodes) implements RootTree {
  /** How a cpio archive of the formats "newc" and "crc" begins. */
  private static final byte[] CPIO = "07070".getBytes(StandardCharsets.US_ASCII);

  private static final byte[] GZIP = {0x1f, (byte) 0x8b};

  /** Whether a file begins like an archive that can be read. */
  static boolean isArchive(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] head = in.readNBytes(CPIO.length);
      return startsWith(head, CPIO) || startsWith(head, GZIP);
    }
  }

  private static boolean startsWith(byte[] bytes, byte[] start) {
    return bytes.length >= start.length
        && java.util.Arrays.equals(bytes, 0, start.length, start, 0, start.length);
  }

  /** Opens an archive. */
  static CpioArchiveInputStream open(Path file) throws IOException {
    InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    try {
      in.mark(GZIP.length);
      byte[] head = in.readNBytes(GZIP.length);
      in.reset();
      InputStream plain = startsWith(head, GZIP) ? new GZIPInputStream(in, 1 << 16) : in;
      return new CpioArchiveInputStream(plain, StandardCharsets.UTF_8.name());
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** Reads the list of an archive's files. */
  static ArchiveTree read(Path file) throws IOException {
    Map<String, Node> nodes = new HashMap<>();
    nodes.put("", Node.of(Node.FOLDER | 0755));
    try (CpioArchiveInputStream archive = open(file)) {
      for (CpioArchiveEntry entry = archive.getNextEntry();
          entry != null;
          entry = archive.getNextEntry()) {
        int mode = (int) entry.getMode();
        nodes.put(name(entry), node(archive, entry, mode));
      }
    }
    return new ArchiveTree(nodes);
  }

  private static Node node(CpioArchiveInputStream archive, CpioArchiveEntry entry, int mode)
      throws IOException {
    if (entry.isSymbolicLink()) {
      return Node.link(mode, target(archive, entry));
    }
    return entry.isRegularFile() ? Node.file(mode, archive.readNBytes(Node.HEAD)) : Node.of(mode);
  }

  /**
   * The path of an entry without {@code ./} at its beginning; empty for the root itself.
   *
   * @throws IOException if the archive has a format in which entries lack what is needed
   */
  static String name(CpioArchiveEntry entry) throws IOException {
    if (entry.getFormat() != CpioConstants.FORMAT_NEW
        && entry.getFormat() != CpioConstants.FORMAT_NEW_CRC) {
      throw new IOException("it is a cpio archive of an old format; make it with cpio -H newc");
    }
    String name = entry.getName();
    while (name.startsWith("./") || name.startsWith("/")) {
      name = name.substring(name.indexOf('/') + 1);
    }
    return name.equals(".") ? "" : name;
  }

  /**
   * Where a symbolic link leads.
   *
   * @throws IOException if the archive holds no path there
   */
  static String target(CpioArchiveInputStream archive, CpioArchiveEntry entry) throws IOException {
    if (entry.getSize() <= 0 || entry.getSize() > 4096) {
      throw new IOException("the link " + entry.getName() + " leads nowhere");
    }
    return new String(archive.readNBytes((int) entry.getSize()), StandardCharsets.UTF_8);
  }

  @Override
  public Optional<Node> at(String path) {
    return Optional.ofNullable(nodes.get(path));
  }
}
