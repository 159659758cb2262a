package graft.guests.container;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** A root file system in a tar archive, as mmdebstrap makes it or a container engine exports it. */
final class TarRoot implements RootArchive {
  /** The permissions of a mode; the type of a tar archive's file is in another field. */
  private static final int PERMISSIONS = 07777;

  /** A mode of no type, for what no container gets: devices and pipes. */
  private static final int OTHER = 0;

  private final TarArchiveInputStream archive;

  TarRoot(InputStream in) {
    this.archive = new TarArchiveInputStream(in, StandardCharsets.UTF_8.name());
  }

  @Override
  public Optional<Member> next() throws IOException {
    TarArchiveEntry entry = archive.getNextEntry();
    if (entry == null) {
      return Optional.empty();
    }
    String target = entry.isSymbolicLink() ? entry.getLinkName() : "";
    if (entry.isSymbolicLink() && (target.isEmpty() || target.length() > LONGEST_LINK)) {
      throw new IOException("the link " + entry.getName() + " leads nowhere");
    }
    return Optional.of(
        new Member(
            entry.getName(),
            type(entry) | (entry.getMode() & PERMISSIONS),
            entry.getLongUserId(),
            entry.getLongGroupId(),
            target,
            entry.isLink() ? Optional.of(entry.getLinkName()) : Optional.empty(),
            entry.isLink() ? 0 : entry.getRealSize()));
  }

  private static int type(TarArchiveEntry entry) {
    if (entry.isDirectory()) {
      return RootTree.Node.FOLDER;
    } else if (entry.isSymbolicLink()) {
      return RootTree.Node.LINK;
    }
    boolean special = entry.isBlockDevice() || entry.isCharacterDevice() || entry.isFIFO();
    return special ? OTHER : RootTree.Node.FILE;
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
