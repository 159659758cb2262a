package graft.provisioner.setup;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/**
 * Writes a tar archive of files with short names, in the form that every tar reads.
 *
 * @see <a href="https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html">POSIX: ustar
 *     interchange format</a>
 */
final class TarArchive {
  private static final int BLOCK = 512;
  private static final int NAME = 100;

  private TarArchive() {}

  /**
   * Writes an archive.
   *
   * @param files by their names, of at most 99 bytes
   */
  static void write(OutputStream out, Map<String, Content> files) throws IOException {
    for (Map.Entry<String, Content> file : files.entrySet()) {
      long size = file.getValue().size();
      out.write(header(file.getKey(), size));
      file.getValue().writeTo(out);
      out.write(new byte[padding(size)]);
    }
    out.write(new byte[2 * BLOCK]);
  }

  /** How long {@link #write} makes it. */
  static long size(Map<String, Content> files) throws IOException {
    long total = 2 * BLOCK;
    for (Content content : files.values()) {
      long size = content.size();
      total += BLOCK + size + padding(size);
    }
    return total;
  }

  private static int padding(long size) {
    return (int) (-size & (BLOCK - 1));
  }

  private static byte[] header(String name, long size) {
    byte[] header = new byte[BLOCK];
    byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
    if (nameBytes.length >= NAME) {
      throw new IllegalArgumentException("too long a name for this archive: " + name);
    }
    System.arraycopy(nameBytes, 0, header, 0, nameBytes.length);
    put(header, 100, "0000600\0"); // mode, for root alone
    put(header, 108, "0000000\0"); // uid
    put(header, 116, "0000000\0"); // gid
    put(header, 124, String.format(Locale.ROOT, "%011o\0", size));
    put(header, 136, "00000000000\0"); // time of change
    header[156] = '0'; // a file
    put(header, 257, "ustar\00000");
    Arrays.fill(header, 148, 156, (byte) ' ');
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    put(header, 148, String.format(Locale.ROOT, "%06o\0 ", sum));
    return header;
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }
}
