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
 * All changes of Graft's state on disk go through this class: journals, claims, tokens and the
 * state folders themselves. A power failure may lose everything that was not synced: the content of
 * a file whose name is on disk, or the name of a file whose content was synced. Tests replace this
 * disk with one that loses exactly that.
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

  /** Replaces the disk of this process, for a test, and returns the previous disk. */
  public static StateDisk replace(StateDisk other) {
    StateDisk before = present;
    present = other;
    return before;
  }

  /** A file that is open for appending. */
  public interface Output extends AutoCloseable {
    /** Appends the bytes. The next {@link #sync} writes them to disk. */
    void write(ByteBuffer bytes) throws IOException;

    /**
     * Syncs all bytes that were written. The name of a new file is on disk only after a sync of its
     * folder.
     */
    void sync() throws IOException;

    /** Takes back what was written after the first {@code length} bytes of the file. */
    void truncate(long length) throws IOException;

    @Override
    void close() throws IOException;
  }

  /** Creates a file that only its owner may read. The file must not exist. */
  public Output create(Path file) throws IOException {
    return new Channel(
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWN_FILE));
  }

  /**
   * Opens a file for appending and truncates the file to a length. Creates the file if it does not
   * exist.
   */
  public Output append(Path file, long length) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWN_FILE);
    channel.truncate(length);
    channel.position(length);
    return new Channel(channel);
  }

  /** Creates a hard link. {@code name} must not exist. */
  public void link(Path name, Path file) throws IOException {
    Files.createLink(name, file);
  }

  /** Renames a file within its folder. An existing file of the new name is replaced. */
  public void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Deletes a file or an empty folder.
   *
   * @return whether the file or folder existed
   */
  public boolean delete(Path path) throws IOException {
    return Files.deleteIfExists(path);
  }

  /** Creates a folder that only its owner may enter. The folder must not exist. */
  public void makeFolder(Path folder) throws IOException {
    Files.createDirectory(folder, OWN_FOLDER);
  }

  /**
   * Creates a folder and its missing parent folders, which only their owner may enter, and syncs
   * their names.
   */
  public final void makeFolders(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      makeFolders(folder.toAbsolutePath().getParent());
      try {
        makeFolder(folder);
      } catch (java.nio.file.FileAlreadyExistsException e) {
        if (!Files.isDirectory(folder)) {
          throw e; // otherwise another process created the folder
        }
      }
      syncFolder(folder.toAbsolutePath().getParent());
    }
  }

  /** Syncs the names of the files in a folder. */
  public void syncFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Syncs the names of the files in a folder after a deletion. Another chain may have deleted the
   * folder itself meanwhile, as the chain of the last guest does with the folder of all guests.
   */
  public final void syncRemoval(Path folder) throws IOException {
    try {
      syncFolder(folder);
    } catch (NoSuchFileException e) {
      // the names are gone with the folder
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
    public void truncate(long length) throws IOException {
      channel.truncate(length);
      channel.position(length);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
