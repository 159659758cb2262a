package graft.guests.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Writes a tar archive of files, in the form that every tar reads.
 *
 * @see <a href="https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html">POSIX: ustar
 *     interchange format</a>
 */
final class TarArchive {
  private static final int BLOCK = 512;
  private static final int NAME = 100;
  private static final int PREFIX = 155;

  private TarArchive() {}

  /**
   * A file.
   *
   * @param name relative, with slashes
   * @param mode permission bits
   */
  record Member(String name, int mode, Content content) {}

  /** Writes an archive. */
  static void write(OutputStream out, List<Member> members) throws IOException {
    for (Member member : members) {
      long size = member.content().size();
      out.write(header(member, size));
      member.content().writeTo(out);
      out.write(new byte[padding(size)]);
    }
    out.write(new byte[2 * BLOCK]);
  }

  /** How long {@link #write} makes it. */
  static long size(List<Member> members) throws IOException {
    long total = 2 * BLOCK;
    for (Member member : members) {
      long size = member.content().size();
      total += BLOCK + size + padding(size);
    }
    return total;
  }

  private static int padding(long size) {
    return (int) (-size & (BLOCK - 1));
  }

  private static byte[] header(Member member, long size) {
    byte[] header = new byte[BLOCK];
    name(header, member.name());
    put(header, 100, String.format(Locale.ROOT, "%07o\0", member.mode()));
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

  /** A long name is cut in two at a slash. */
  private static void name(byte[] header, String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    int cut = -1;
    if (bytes.length > NAME) {
      cut = Math.min(PREFIX, bytes.length - 1);
      while (cut > 0 && bytes[cut] != '/') {
        cut--;
      }
    }
    int rest = bytes.length - cut - 1;
    if (cut == 0 || rest > NAME) {
      throw new IllegalArgumentException("too long a name for a tar archive: " + name);
    }
    if (cut > 0) {
      System.arraycopy(bytes, 0, header, 345, cut);
    }
    System.arraycopy(bytes, cut + 1, header, 0, rest);
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }
}
