package graft.deployment.state;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Writes files for their owner alone, whole or not at all. */
public final class PrivateFiles {
  private static final String UNFINISHED = ".unfinished";

  private PrivateFiles() {}

  /** What writes a file's content. */
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** Writes a file beside its place with mode 0600, syncs it, and moves it there. */
  public static void write(Path file, Content content) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
    Files.deleteIfExists(unfinished);
    try (FileChannel channel =
        FileChannel.open(
            unfinished,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      OutputStream out = Channels.newOutputStream(channel);
      content.writeTo(out);
      out.flush();
      channel.force(true);
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** As above. */
  public static void write(Path file, byte[] content) throws IOException {
    write(file, out -> Channels.newChannel(out).write(ByteBuffer.wrap(content)));
  }

  /** Removes a file and what an interrupted {@link #write} left. */
  public static void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
    Files.deleteIfExists(file.resolveSibling(file.getFileName() + UNFINISHED));
  }

  /** Makes a folder for its owner alone. */
  public static void makeFolder(Path folder) throws IOException {
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /** Removes a folder and all in it; nothing if there is none. */
  public static void deleteFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    List<Path> all;
    try (Stream<Path> walk = Files.walk(folder)) {
      all = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      Files.deleteIfExists(path);
    }
  }
}
