package graft.guests.container;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;

/** The files of a root file system, looked at without leaving it. */
interface RootTree {
  /** As many symbolic links as Linux follows in a path (path_resolution(7)). */
  int MOST_LINKS = 40;

  /**
   * A file.
   *
   * @param mode its type and permissions, as in {@code struct stat}
   * @param target where it leads, if it is a symbolic link; else empty
   * @param head its first bytes, if it is a regular file; else empty
   */
  record Node(int mode, String target, byte[] head) {
    static final int TYPE = 0170000;
    static final int FOLDER = 0040000;
    static final int FILE = 0100000;
    static final int LINK = 0120000;
    static final int HEAD = 64;

    boolean is(int type) {
      return (mode & TYPE) == type;
    }
  }

  /**
   * The file at a path without links in it.
   *
   * @param path relative, without {@code .} and {@code ..}; empty for the root itself
   */
  Optional<Node> at(String path) throws IOException;

  /** The file at an absolute path. Links are followed as a process in that root follows them. */
  default Optional<Node> resolve(String path) throws IOException {
    Deque<String> todo = new ArrayDeque<>(Arrays.asList(path.split("/")));
    Deque<String> done = new ArrayDeque<>();
    int links = 0;
    while (!todo.isEmpty()) {
      String part = todo.pop();
      if (part.isEmpty() || part.equals(".")) {
        continue;
      } else if (part.equals("..")) {
        done.pollLast(); // the root's own parent is the root
        continue;
      }
      done.add(part);
      Optional<Node> found = at(String.join("/", done));
      if (found.isEmpty() || (!todo.isEmpty() && found.get().is(Node.FILE))) {
        return Optional.empty();
      }
      if (found.get().is(Node.LINK)) {
        if (++links > MOST_LINKS) {
          return Optional.empty();
        }
        done.removeLast();
        if (found.get().target().startsWith("/")) {
          done.clear();
        }
        String[] parts = found.get().target().split("/");
        for (int i = parts.length - 1; i >= 0; i--) {
          todo.push(parts[i]);
        }
      }
    }
    return at(String.join("/", done));
  }
}
