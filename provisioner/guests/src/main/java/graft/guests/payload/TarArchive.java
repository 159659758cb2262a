package graft.guests.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** Writes a tar archive of files that belong to root, in the format that every tar supports. */
final class TarArchive {
  private TarArchive() {}

  /**
   * A file.
   *
   * @param name the relative path, with slashes
   * @param mode permission bits
   */
  record Member(String name, int mode, Content content) {}

  /** Writes an archive and returns its size in bytes. */
  static long write(OutputStream out, List<Member> members) throws IOException {
    TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name());
    // the only format for long names that busybox supports
    tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
    for (Member member : members) {
      TarArchiveEntry entry = new TarArchiveEntry(member.name());
      entry.setSize(member.content().size());
      entry.setMode(member.mode());
      entry.setLastModifiedTime(FileTime.fromMillis(0));
      tar.putArchiveEntry(entry);
      member.content().writeTo(tar);
      tar.closeArchiveEntry();
    }
    tar.finish();
    return tar.getBytesWritten();
  }
}
