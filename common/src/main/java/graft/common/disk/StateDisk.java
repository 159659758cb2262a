package graft.common.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Every way in which Graft changes what it keeps on disk: journals, claims, tokens, the state
 * folders themselves. Power may go at any moment, and what was not synced may then be lost: the
 * content of a file although its name is there, and a name although the content was synced. Tests
 * put a disk in the place of this one that loses exactly that.
 */
public class StateDisk {
  private static final FileAttribute<Set<PosixFilePermission>> OWN_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> OWN_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static volatile StateDisk present = new StateDisk();

  /** The disk of this process. */
  public static StateDisk get() {
    return present;
  }

  /** Takes another disk for this process, for a test; gives the one before. */
  public static StateDisk replace(StateDisk other) {
    StateDisk before = present;
    present = other;
    return before;
  }

  /** A file that is written from some place on. */
  public interface Output extends AutoCloseable {
    /** Writes all of the bytes at the end; they are on disk after the next {@link #sync}. */
    void write(ByteBuffer bytes) throws IOException;

    /** Has all that was written on disk. The file's name is another matter: its folder's. */
    void sync() throws IOException;

    @Override
    void close() throws IOException;
  }

  /** Makes a file for its owner alone, which must not be there. */
  public Output create(Path file) throws IOException {
    return new Channel(
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWN_FILE));
  }

  /** Opens a file to write from a length on, without what was behind that; makes it if need be. */
  public Output append(Path file, long length) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWN_FILE);
    channel.truncate(length);
    channel.position(length);
    return new Channel(channel);
  }

  /** Gives a file a second name, which must not be there. */
  public void link(Path name, Path file) throws IOException {
    Files.createLink(name, file);
  }

  /** Moves a file within its folder, in the place of one that is there. */
  public void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Removes a file or an empty folder.
   *
   * @return whether it was there
   */
  public boolean delete(Path path) throws IOException {
    return Files.deleteIfExists(path);
  }

  /** Makes a folder for its owner alone, which must not be there. */
  public void makeFolder(Path folder) throws IOException {
    Files.createDirectory(folder, OWN_FOLDER);
  }

  /** Makes a folder and those above it, each for its owner alone and on disk with its name. */
  public final void makeFolders(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      makeFolders(folder.toAbsolutePath().getParent());
      try {
        makeFolder(folder);
      } catch (java.nio.file.FileAlreadyExistsException e) {
        if (!Files.isDirectory(folder)) {
          throw e; // else another process was faster
        }
      }
      syncFolder(folder.toAbsolutePath().getParent());
    }
  }

  /** Has the names in a folder on disk as they are now. */
  public void syncFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * The same after a removal. Another chain may have removed the folder itself meanwhile, as the
   * last guest's does with the folder of all guests: the names went with it.
   */
  public final void syncRemoval(Path folder) throws IOException {
    try {
      syncFolder(folder);
    } catch (NoSuchFileException e) {
      // nothing is left that could come back
    }
  }

  private record Channel(FileChannel channel) implements Output {
    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    @Override
    public void sync() throws IOException {
      channel.force(false);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
