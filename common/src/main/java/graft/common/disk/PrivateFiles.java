package graft.common.disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/** Writes files that only their owner may read. Each write is atomic, even if the power is cut. */
public final class PrivateFiles {
  private static final String UNFINISHED = ".unfinished";

  private PrivateFiles() {}

  /** Writes the content of a file. */
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Writes a temporary file with mode 0600, syncs it, and moves it to its place. The file and its
   * name are on disk when this returns.
   */
  public static void write(Path file, Content content) throws IOException {
    StateDisk disk = StateDisk.get();
    Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
    disk.delete(unfinished);
    try (StateDisk.Output out = disk.create(unfinished)) {
      content.writeTo(new Stream(out));
      out.sync();
    }
    disk.move(unfinished, file);
    disk.syncFolder(file.toAbsolutePath().getParent());
  }

  /** Writes these bytes as {@link #write(Path, Content)} does. */
  public static void write(Path file, byte[] content) throws IOException {
    write(file, out -> out.write(content));
  }

  /**
   * Removes a file and the temporary file of an interrupted {@link #write}. The removal survives a
   * power cut, so that a journal may record it afterwards.
   */
  public static void delete(Path file) throws IOException {
    StateDisk disk = StateDisk.get();
    boolean there = disk.delete(file);
    there |= disk.delete(file.resolveSibling(file.getFileName() + UNFINISHED));
    if (there) {
      disk.syncRemoval(file.toAbsolutePath().getParent());
    }
  }

  /** Makes a folder for its owner alone. */
  public static void makeFolder(Path folder) throws IOException {
    StateDisk.get().makeFolder(folder);
    StateDisk.get().syncFolder(folder.toAbsolutePath().getParent());
  }

  /** Removes a folder and its content, if it exists. */
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
