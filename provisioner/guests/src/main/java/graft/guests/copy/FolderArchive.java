package graft.guests.copy;

import graft.hypervisors.libvirt.calls.GuestText;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/**
 * The content of a folder as an archive of tar(1). An archive that a guest sends is not trusted.
 */
final class FolderArchive {
  private static final int EXAMPLES = 5;
  private static final int SHOWN = 200;
  private static final int RIGHTS = 0777;
  private static final int OWNER_EXECUTES = 0100;

  private long files;
  private long bytes;
  private long left;
  private final List<String> examples = new ArrayList<>();

  private FolderArchive() {}

  private CopiedFolder result() {
    return new CopiedFolder(files, bytes, left, examples);
  }

  private void leave(String name) {
    left++;
    if (examples.size() < EXAMPLES) {
      examples.add(name);
    }
  }

  /** Writes the folder's content, without the folder itself. Links are written as links. */
  static CopiedFolder pack(Path folder, OutputStream out) throws IOException {
    FolderArchive archive = new FolderArchive();
    // The stream is not closed: an archive that could not be made has no end.
    TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name());
    // the only formats for long names and large files that busybox supports
    tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
    tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_STAR);
    try (Stream<Path> walk = Files.walk(folder)) {
      for (Iterator<Path> paths = walk.iterator(); paths.hasNext(); ) {
        Path path = paths.next();
        if (!path.equals(folder)) {
          archive.pack(tar, path, folder.relativize(path).toString());
        }
      }
    }
    tar.finish();
    out.flush();
    return archive.result();
  }

  private void pack(TarArchiveOutputStream tar, Path path, String name) throws IOException {
    boolean link = Files.isSymbolicLink(path);
    if (!link && !Files.isRegularFile(path) && !Files.isDirectory(path)) {
      leave(name);
      return;
    }
    TarArchiveEntry entry =
        link ? new TarArchiveEntry(name, TarConstants.LF_SYMLINK) : new TarArchiveEntry(path, name);
    if (link) {
      entry.setLinkName(Files.readSymbolicLink(path).toString());
    } else {
      entry.setMode((int) Files.getAttribute(path, "unix:mode") & RIGHTS);
    }
    entry.setIds(0, 0);
    entry.setNames("root", "root");
    tar.putArchiveEntry(entry);
    if (entry.isFile() && !link) {
      bytes += Files.copy(path, tar);
      files++;
    }
    tar.closeArchiveEntry();
  }

  /**
   * Writes an archive's files and folders into a folder, and nothing outside of it. Other kinds of
   * entries are left out.
   *
   * @throws IOException if the archive is damaged or has a path that leads out of the folder
   */
  static CopiedFolder unpack(InputStream in, Path folder) throws IOException {
    FolderArchive archive = new FolderArchive();
    HeaderLimit limit = new HeaderLimit(in);
    Files.createDirectories(folder);
    TarArchiveInputStream tar = new TarArchiveInputStream(limit, StandardCharsets.UTF_8.name());
    for (TarArchiveEntry entry = limit.next(tar); entry != null; entry = limit.next(tar)) {
      archive.unpack(tar, entry, folder);
    }
    in.transferTo(OutputStream.nullOutputStream()); // tar may pad the archive
    return archive.result();
  }

  private void unpack(TarArchiveInputStream tar, TarArchiveEntry entry, Path folder)
      throws IOException {
    List<String> names = names(entry.getName());
    if (names.isEmpty()) {
      return;
    }
    if (entry.isLink()) {
      Path target = inside(folder, names(entry.getLinkName()));
      if (Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
        try (InputStream content = Files.newInputStream(target)) {
          write(content, Files.isExecutable(target), inside(folder, names));
        }
      } else {
        leave(entry.getName());
      }
    } else if (entry.isDirectory()) {
      makeFolder(inside(folder, names));
    } else if (!isRegular(entry)) {
      leave(entry.getName());
    } else {
      write(tar, (entry.getMode() & OWNER_EXECUTES) != 0, inside(folder, names));
    }
  }

  /** Whether an entry is a file, and no link, device, pipe, or file with holes. */
  private static boolean isRegular(TarArchiveEntry entry) {
    byte kind = entry.getLinkFlag();
    return (kind == TarConstants.LF_NORMAL || kind == TarConstants.LF_OLDNORM) && !entry.isSparse();
  }

  /** The parts of a path of the archive; none for the folder itself. */
  private static List<String> names(String path) throws IOException {
    List<String> names = new ArrayList<>();
    for (String name : path.split("/", -1)) {
      if (name.equals("..")) {
        throw leadsOut(path);
      }
      if (!name.isEmpty() && !name.equals(".")) {
        names.add(name);
      }
    }
    return names;
  }

  private static IOException leadsOut(String path) {
    return new IOException(
        "the guest's archive has the path '"
            + GuestText.line(path, SHOWN)
            + "', which leads out of the folder");
  }

  /** A path whose folders are there, and are no links, which could lead out of the folder. */
  private static Path inside(Path folder, List<String> names) throws IOException {
    Path path = folder;
    try {
      for (String name : names.subList(0, Math.max(0, names.size() - 1))) {
        path = path.resolve(name);
        makeFolder(path);
      }
      return names.isEmpty() ? path : path.resolve(names.get(names.size() - 1));
    } catch (InvalidPathException e) {
      throw leadsOut(String.join("/", names));
    }
  }

  private static void makeFolder(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(path);
    } else if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "'" + GuestText.line(path.toString(), SHOWN) + "' is there already, and is no folder");
    }
  }

  /** Writes a file that appears under its name when it is complete. */
  private void write(InputStream content, boolean executable, Path file) throws IOException {
    Path unfinished = Files.createTempFile(file.getParent(), ".graft", ".new");
    try {
      try (OutputStream out = Files.newOutputStream(unfinished)) {
        bytes += content.transferTo(out);
      }
      if (executable) {
        Set<PosixFilePermission> rights = EnumSet.of(PosixFilePermission.OWNER_EXECUTE);
        rights.addAll(Files.getPosixFilePermissions(unfinished));
        Files.setPosixFilePermissions(unfinished, rights);
      }
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
      files++;
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  /**
   * Limits what is read between two entries. A name of any length there would be read into memory
   * as a whole.
   */
  private static final class HeaderLimit extends FilterInputStream {
    private static final int MOST = 1 << 20;

    private boolean between;
    private int read;

    HeaderLimit(InputStream in) {
      super(in);
    }

    TarArchiveEntry next(TarArchiveInputStream tar) throws IOException {
      between = true;
      read = 0;
      try {
        return tar.getNextEntry();
      } catch (IllegalArgumentException e) {
        throw new IOException("the guest's archive is damaged", e);
      } finally {
        between = false;
      }
    }

    private int count(int bytes) throws IOException {
      if (between) {
        read += Math.max(0, bytes);
        if (read > MOST) {
          throw new IOException("the guest's archive has a header of more than 1 MiB");
        }
      }
      return bytes;
    }

    @Override
    public int read() throws IOException {
      int one = in.read();
      count(one < 0 ? 0 : 1);
      return one;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      return count(in.read(into, offset, length));
    }
  }
}
