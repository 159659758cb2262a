package graft.remoting.server.jail;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A server's folder for its workers' jails: the empty folder over which a jail's root file system
 * is mounted, and the native libraries. Folders that killed servers left behind are removed.
 */
public final class JailFolder implements AutoCloseable {
  private static final Pattern NAME = Pattern.compile("graft-jail-(\\d{1,9})-.*");

  private final Path path;

  private JailFolder(Path path) {
    this.path = path;
  }

  /** Creates the folder in a parent folder. */
  public static JailFolder make(Path parent) throws IOException {
    sweep(parent);
    String prefix = "graft-jail-" + ProcessHandle.current().pid() + "-";
    JailFolder folder = new JailFolder(Files.createTempDirectory(parent, prefix).toRealPath());
    // Workers without a file system of their own find the libraries here.
    Files.setPosixFilePermissions(folder.path, PosixFilePermissions.fromString("rwx--x--x"));
    Files.createDirectory(folder.root());
    NativeParts.unpack(folder.libraries());
    return folder;
  }

  /** Creates a folder that stays. What it had contained is removed. */
  static JailFolder replace(Path path) throws IOException {
    if (Files.exists(path)) {
      remove(path);
    }
    Files.createDirectory(path);
    JailFolder folder = new JailFolder(path.toRealPath());
    Files.setPosixFilePermissions(folder.path, PosixFilePermissions.fromString("rwx--x--x"));
    Files.createDirectory(folder.root());
    NativeParts.unpack(folder.libraries());
    return folder;
  }

  /** Returns the folder over which a jail's root is mounted. */
  public Path root() {
    return path.resolve("root");
  }

  /** Returns the folder of the jars' native libraries. */
  public Path libraries() {
    return path.resolve("native");
  }

  private static void sweep(Path parent) throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(parent, "graft-jail-*")) {
      for (Path folder : left) {
        Matcher name = NAME.matcher(folder.getFileName().toString());
        if (name.matches()
            && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()
            && Files.isWritable(folder)) {
          remove(folder);
        }
      }
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(path);
      }
    } catch (java.io.UncheckedIOException e) {
      // Another server is removing it at the same time.
    }
  }

  @Override
  public void close() throws IOException {
    remove(path);
  }
}
