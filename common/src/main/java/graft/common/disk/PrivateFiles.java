package graft.common.disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/** Writes files that only their owner may read. Each write is atomic even if the power fails. */
public final class PrivateFiles {
  private static final String UNFINISHED = ".unfinished";

  private PrivateFiles() {}

  /** Writes the content of a file. */
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Writes a temporary file with mode 0600, syncs it, and renames it to the given path. The file
   * and its name are on disk when this method returns. The file keeps the owner of the one that it
   * replaces. If it cannot be written, for example on a full disk, the file stays as it was.
   */
  public static void write(Path file, Content content) throws IOException {
    StateDisk disk = StateDisk.get();
    Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
    disk.delete(unfinished);
    try (StateDisk.Output out = disk.create(unfinished)) {
      content.writeTo(new Stream(out));
      keepOwner(file, unfinished);
      out.sync();
    } catch (IOException e) {
      disk.delete(unfinished);
      throw e;
    }
    disk.move(unfinished, file);
    disk.syncFolder(file.toAbsolutePath().getParent());
  }

  private static void keepOwner(Path before, Path file) throws IOException {
    if (Files.exists(before, LinkOption.NOFOLLOW_LINKS)
        && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      for (String owner : List.of("unix:gid", "unix:uid")) {
        Object its = Files.getAttribute(before, owner, LinkOption.NOFOLLOW_LINKS);
        if (!its.equals(Files.getAttribute(file, owner, LinkOption.NOFOLLOW_LINKS))) {
          Files.setAttribute(file, owner, its, LinkOption.NOFOLLOW_LINKS);
        }
      }
    }
  }

  /** Writes a file with the given content, as {@link #write(Path, Content)} does. */
  public static void write(Path file, byte[] content) throws IOException {
    write(file, out -> out.write(content));
  }

  /**
   * Deletes a file, and the temporary file that an interrupted {@link #write} left. The deletion
   * survives a power failure, so that a journal may record it afterwards.
   */
  public static void delete(Path file) throws IOException {
    StateDisk disk = StateDisk.get();
    boolean there = disk.delete(file);
    there |= disk.delete(file.resolveSibling(file.getFileName() + UNFINISHED));
    if (there) {
      disk.syncRemoval(file.toAbsolutePath().getParent());
    }
  }

  /** Creates a folder that only its owner may enter. */
  public static void makeFolder(Path folder) throws IOException {
    StateDisk.get().makeFolder(folder);
    StateDisk.get().syncFolder(folder.toAbsolutePath().getParent());
  }

  /** Deletes a folder and its content, if the folder exists. */
  public static void deleteFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    List<Path> all;
    try (java.util.stream.Stream<Path> walk = Files.walk(folder)) {
      all = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      StateDisk.get().delete(path);
    }
    StateDisk.get().syncRemoval(folder.toAbsolutePath().getParent());
  }

  private static final class Stream extends OutputStream {
    private final StateDisk.Output out;

    Stream(StateDisk.Output out) {
      this.out = out;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(ByteBuffer.wrap(bytes, from, length));
    }
  }
}
