package graft.guests.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Writes a cpio archive of the form "newc", as the kernel unpacks it into its first root file
 * system.
 *
 * @see <a href="https://docs.kernel.org/driver-api/early-userspace/buffer-format.html">initramfs
 *     buffer format</a>
 */
public final class CpioArchive {
  private static final int FILE = 0100000;
  private static final int FOLDER = 0040000;

  /** Folders that are not 0755. The kernel gives a folder that exists the archive's mode. */
  private static final Map<String, Integer> FOLDER_MODES =
      Map.of("tmp", 01777, "var/tmp", 01777, "root", 0700);

  private static final Content NOTHING = Content.of(new byte[0]);

  private final OutputStream out;
  private long written;
  private int inode = 1;

  private CpioArchive(OutputStream out) {
    this.out = out;
  }

  /**
   * Writes an archive of these files, the folders that hold them, and the trailer.
   *
   * @return how many bytes it has, a multiple of 4
   */
  public static long write(OutputStream out, List<GuestFile> files) throws IOException {
    CpioArchive archive = new CpioArchive(out);
    Set<String> folders = new TreeSet<>();
    for (GuestFile file : files) {
      String name = file.path().substring(1);
      for (int slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
        folders.add(name.substring(0, slash));
      }
    }
    for (String folder : folders) {
      archive.entry(folder, FOLDER | FOLDER_MODES.getOrDefault(folder, 0755), NOTHING);
    }
    for (GuestFile file : files) {
      archive.entry(file.path().substring(1), FILE | file.mode(), file.content());
    }
    archive.inode = 0;
    archive.entry("TRAILER!!!", 0, NOTHING);
    return archive.written;
  }

  private void entry(String name, int mode, Content content) throws IOException {
    long size = content.size();
    if (size > Integer.MAX_VALUE) {
      throw new IOException("/" + name + " is too large for an initramfs");
    }
    byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
    int[] fields = {
      inode == 0 ? 0 : inode++,
      mode,
      0, // uid
      0, // gid
      (mode & FOLDER) != 0 ? 2 : 1, // links
      0, // time of change
      (int) size,
      0,
      0,
      0,
      0, // device numbers
      nameBytes.length + 1,
      0 // checksum, unused
    };
    StringBuilder header = new StringBuilder("070701");
    for (int field : fields) {
      header.append(HexFormat.of().toHexDigits(field));
    }
    put(header.toString().getBytes(StandardCharsets.US_ASCII));
    put(nameBytes);
    put(new byte[1]);
    pad();
    content.writeTo(out);
    written += size;
    pad();
  }

  private void put(byte[] bytes) throws IOException {
    out.write(bytes);
    written += bytes.length;
  }

  private void pad() throws IOException {
    put(new byte[(int) (-written & 3)]);
  }
}
