package graft.guests.container;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.compress.archivers.cpio.CpioArchiveEntry;
import org.apache.commons.compress.archivers.cpio.CpioArchiveInputStream;
import org.apache.commons.compress.archivers.cpio.CpioConstants;

/** A root file system in a cpio archive of the format that initramfses have. */
final class CpioRoot implements RootArchive {
  private final CpioArchiveInputStream archive;

  /** The first names of files with several names, by device and number in the archive. */
  private final Map<String, String> linked = new HashMap<>();

  CpioRoot(InputStream in) {
    this.archive = new CpioArchiveInputStream(in, StandardCharsets.UTF_8.name());
  }

  @Override
  public Optional<Member> next() throws IOException {
    CpioArchiveEntry entry = archive.getNextEntry();
    if (entry == null) {
      return Optional.empty();
    }
    if (entry.getFormat() != CpioConstants.FORMAT_NEW
        && entry.getFormat() != CpioConstants.FORMAT_NEW_CRC) {
      throw new IOException("it is a cpio archive of an old format; make it with cpio -H newc");
    }
    return Optional.of(
        new Member(
            entry.getName(),
            (int) entry.getMode(),
            entry.getUID(),
            entry.getGID(),
            entry.isSymbolicLink() ? target(entry) : "",
            entry.isRegularFile() ? same(entry) : Optional.empty(),
            entry.getSize()));
  }

  /** In the format "newc" only the last of a file's names has its content. */
  private Optional<String> same(CpioArchiveEntry entry) {
    if (entry.getNumberOfLinks() < 2) {
      return Optional.empty();
    }
    String number = entry.getDeviceMaj() + ":" + entry.getDeviceMin() + ":" + entry.getInode();
    return Optional.ofNullable(linked.putIfAbsent(number, entry.getName()));
  }

  private String target(CpioArchiveEntry entry) throws IOException {
    if (entry.getSize() <= 0 || entry.getSize() > LONGEST_LINK) {
      throw new IOException("the link " + entry.getName() + " leads nowhere");
    }
    return new String(archive.readNBytes((int) entry.getSize()), StandardCharsets.UTF_8);
  }

  @Override
  public InputStream content() {
    return archive;
  }

  @Override
  public void close() throws IOException {
    archive.close();
  }
}
