package graft.sriov.fake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Files, folders and links below a root, by their paths on the host. */
final class Tree {
  final Path root;

  Tree(Path root) {
    this.root = root;
  }

  Path path(String path) {
    return root.resolve(path.substring(1));
  }

  void file(String path, String content) {
    try {
      Files.createDirectories(path(path).getParent());
      Files.writeString(path(path), content + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file's text without leading and trailing blanks; empty if the file does not exist. */
  String text(String path) {
    try {
      return Files.exists(path(path)) ? Files.readString(path(path)).strip() : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void folder(String path) {
    try {
      Files.createDirectories(path(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates a relative link, as the kernel does, so that the tree can be moved. */
  void link(String path, String target) {
    try {
      Path from = path(path);
      Files.createDirectories(from.getParent());
      Path realFolder = from.getParent().toRealPath();
      Files.deleteIfExists(from);
      Path real = root.toRealPath().resolve(target.substring(1));
      Files.createSymbolicLink(from, realFolder.relativize(real));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates a link whose target is not a file of the tree, as in /proc/PID/fd. */
  void linkText(String path, String target) {
    try {
      Files.createDirectories(path(path).getParent());
      Files.createSymbolicLink(path(path), Path.of(target));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void delete(String path) {
    Path start = path(path);
    if (!Files.exists(start, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> all = Files.walk(start)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path one : deepestFirst) {
        Files.delete(one);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The whole tree: the contents of files and the targets of links, by path. */
  SortedMap<String, String> dump() {
    SortedMap<String, String> dump = new TreeMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path one : all.toList()) {
        String name = "/" + root.relativize(one);
        if (Files.isSymbolicLink(one)) {
          dump.put(name, "-> " + Files.readSymbolicLink(one));
        } else if (Files.isRegularFile(one)) {
          dump.put(name, Files.readString(one));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return dump;
  }
}
