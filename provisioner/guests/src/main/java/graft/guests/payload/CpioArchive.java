package graft.guests.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.compress.archivers.cpio.CpioArchiveEntry;
import org.apache.commons.compress.archivers.cpio.CpioArchiveOutputStream;
import org.apache.commons.compress.archivers.cpio.CpioConstants;

/**
 * Writes a cpio archive in the format "newc", which the kernel unpacks into its first root file
 * system.
 *
 * @see <a href="https://docs.kernel.org/driver-api/early-userspace/buffer-format.html">initramfs
 *     buffer format</a>
 */
public final class CpioArchive {
  /**
   * The folders whose mode is not 0755. The kernel gives an existing folder the mode in the
   * archive.
   */
  private static final Map<String, Integer> FOLDER_MODES =
      Map.of("tmp", 01777, "var/tmp", 01777, "root", 0700);

  private static final Content NOTHING = Content.of(new byte[0]);

  /** The kernel looks for an archive at multiples of this number of bytes. */
  private static final int ALIGNMENT = 4;

  private CpioArchive() {}

  /**
   * Writes an archive of the files, the folders that contain them, and the trailer.
   *
   * @return the archive's size in bytes, a multiple of 4
   */
  public static long write(OutputStream out, List<GuestFile> files) throws IOException {
    CpioArchiveOutputStream cpio =
        new CpioArchiveOutputStream(
            out, CpioConstants.FORMAT_NEW, ALIGNMENT, StandardCharsets.UTF_8.name());
    Set<String> folders = new TreeSet<>();
    for (GuestFile file : files) {
      String name = file.path().substring(1);
      for (int slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
        folders.add(name.substring(0, slash));
      }
    }
    for (String folder : folders) {
      int mode = FOLDER_MODES.getOrDefault(folder, 0755);
      entry(cpio, folder, CpioConstants.C_ISDIR | mode, NOTHING);
    }
    for (GuestFile file : files) {
      int mode = CpioConstants.C_ISREG | file.mode();
      entry(cpio, file.path().substring(1), mode, file.content());
    }
    cpio.finish();
    return cpio.getBytesWritten();
  }

  private static void entry(CpioArchiveOutputStream cpio, String name, int mode, Content content)
      throws IOException {
    if (content.size() > Integer.MAX_VALUE) {
      throw new IOException("/" + name + " is too large for an initramfs");
    }
    CpioArchiveEntry entry = new CpioArchiveEntry(CpioConstants.FORMAT_NEW, name, content.size());
    entry.setMode(mode);
    cpio.putArchiveEntry(entry);
    content.writeTo(cpio);
    cpio.closeArchiveEntry();
  }
}
