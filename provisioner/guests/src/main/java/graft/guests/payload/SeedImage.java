package graft.guests.payload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes an ISO 9660 image of a few files in its root folder, with Joliet names: the format of the
 * seed of cloud-init's NoCloud source.
 *
 * <p>Layout, in sectors of 2 KiB: 16 primary volume, 17 Joliet volume, 18 end of volumes, 19-22
 * path tables (little and big endian of each), 23 and 24 the root folders, then the files.
 *
 * @see <a href="https://ecma-international.org/publications-and-standards/standards/ecma-119/">
 *     ECMA-119 (ISO 9660)</a>
 */
public final class SeedImage {
  static final int SECTOR = 2048;

  private static final int PATH_TABLES = 19;
  private static final int ROOTS = 23;
  private static final int FILES = 25;
  private static final Charset UCS2 = StandardCharsets.UTF_16BE;

  private final String label;
  private final List<String> names = new ArrayList<>();
  private final List<Content> contents = new ArrayList<>();
  private final List<Integer> sizes = new ArrayList<>();

  private SeedImage(String label, Map<String, Content> files) throws IOException {
    this.label = label;
    for (Map.Entry<String, Content> file : files.entrySet()) {
      names.add(file.getKey());
      contents.add(file.getValue());
      long size = file.getValue().size();
      if (size > Integer.MAX_VALUE - SECTOR) {
        throw new IOException(file.getKey() + " has " + size + " bytes, too many for a seed");
      }
      sizes.add((int) size);
    }
  }

  /**
   * Writes the image.
   *
   * @param label the volume's name, {@code cidata} for NoCloud
   * @param files at most 20 files with names of at most 30 characters
   */
  public static void write(OutputStream out, String label, Map<String, Content> files)
      throws IOException {
    new SeedImage(label, files).write(out);
  }

  private void write(OutputStream out) throws IOException {
    int total = FILES;
    for (int size : sizes) {
      total += sectors(size);
    }
    out.write(head(total));
    for (int i = 0; i < contents.size(); i++) {
      contents.get(i).writeTo(out);
      out.write(new byte[sectors(sizes.get(i)) * SECTOR - sizes.get(i)]);
    }
  }

  /** All sectors that precede the files. */
  private byte[] head(int total) {
    ByteBuffer image = ByteBuffer.allocate(FILES * SECTOR);
    volume(image, 16, false, total);
    volume(image, 17, true, total);
    image.position(18 * SECTOR);
    image.put((byte) 255).put(ascii("CD001")).put((byte) 1);
    for (int i = 0; i < 4; i++) {
      pathTable(image, PATH_TABLES + i, ROOTS + i / 2, i % 2 == 1);
    }
    root(image, ROOTS, false);
    root(image, ROOTS + 1, true);
    return image.array();
  }

  /** A volume descriptor (8.4 primary, 8.5 supplementary). */
  private void volume(ByteBuffer image, int sector, boolean joliet, int total) {
    int start = sector * SECTOR;
    image.position(start);
    image.put((byte) (joliet ? 2 : 1)).put(ascii("CD001")).put((byte) 1).put((byte) 0);
    text(image, "", 32, joliet);
    text(image, label, 32, joliet);
    image.position(start + 80);
    both(image, total);
    if (joliet) {
      image.put(ascii("%/E")); // UCS-2 level 3
    }
    image.position(start + 120);
    both16(image, 1);
    both16(image, 1);
    both16(image, SECTOR);
    both(image, 10); // size of a path table in bytes
    int tables = PATH_TABLES + (joliet ? 2 : 0);
    image.order(ByteOrder.LITTLE_ENDIAN).putInt(tables).putInt(0);
    image.order(ByteOrder.BIG_ENDIAN).putInt(tables + 1).putInt(0);
    record(image, new byte[1], ROOTS + (joliet ? 1 : 0), SECTOR, true);
    text(image, "", 128, joliet); // volume set
    text(image, "", 128, joliet); // publisher
    text(image, "", 128, joliet); // preparer
    text(image, "GRAFT", 128, joliet); // application
    text(image, "", 37, joliet); // copyright file
    text(image, "", 37, joliet); // abstract file
    text(image, "", 37, joliet); // bibliography file
    for (int i = 0; i < 4; i++) {
      image.put(ascii("0000000000000000")).put((byte) 0); // an absent date
    }
    image.put((byte) 1); // version of the file structure
  }

  private static void pathTable(ByteBuffer image, int sector, int root, boolean bigEndian) {
    image.position(sector * SECTOR);
    image.order(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    image.put((byte) 1).put((byte) 0).putInt(root).putShort((short) 1).putShort((short) 0);
  }

  private void root(ByteBuffer image, int sector, boolean joliet) {
    image.position(sector * SECTOR);
    record(image, new byte[] {0}, sector, SECTOR, true);
    record(image, new byte[] {1}, sector, SECTOR, true);
    int file = FILES;
    for (int i = 0; i < names.size(); i++) {
      byte[] name =
          joliet ? (names.get(i) + ";1").getBytes(UCS2) : ascii(plain(names.get(i)) + ";1");
      record(image, name, file, sizes.get(i), false);
      file += sectors(sizes.get(i));
    }
  }

  /** A folder record (9.1). */
  private static void record(
      ByteBuffer image, byte[] name, int sector, int length, boolean folder) {
    int size = 33 + name.length + (name.length % 2 == 0 ? 1 : 0);
    image.put((byte) size).put((byte) 0);
    both(image, sector);
    both(image, length);
    // the year 1970, so that the same files give the same bytes
    image.put(new byte[] {70, 1, 1, 0, 0, 0, 0});
    image.put((byte) (folder ? 2 : 0)).put((byte) 0).put((byte) 0);
    both16(image, 1);
    image.put((byte) name.length).put(name);
    if (name.length % 2 == 0) {
      image.put((byte) 0);
    }
  }

  /** The name reduced to the characters that ISO 9660 allows. */
  private static String plain(String name) {
    String upper = name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9_.]", "_");
    return upper.contains(".") ? upper : upper + ".";
  }

  private static void text(ByteBuffer image, String text, int length, boolean joliet) {
    ByteArrayOutputStream field = new ByteArrayOutputStream();
    field.writeBytes(joliet ? text.getBytes(UCS2) : ascii(text));
    byte[] blank = joliet ? " ".getBytes(UCS2) : ascii(" ");
    while (field.size() + blank.length <= length) {
      field.writeBytes(blank);
    }
    image.put(field.toByteArray()).put(new byte[length - field.size()]);
  }

  private static void both(ByteBuffer image, int value) {
    image.order(ByteOrder.LITTLE_ENDIAN).putInt(value);
    image.order(ByteOrder.BIG_ENDIAN).putInt(value);
  }

  private static void both16(ByteBuffer image, int value) {
    image.order(ByteOrder.LITTLE_ENDIAN).putShort((short) value);
    image.order(ByteOrder.BIG_ENDIAN).putShort((short) value);
  }

  private static int sectors(int bytes) {
    return Math.max(1, (bytes + SECTOR - 1) / SECTOR);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
