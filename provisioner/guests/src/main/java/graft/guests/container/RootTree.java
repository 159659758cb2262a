package graft.guests.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
   * @param foreign whether it is a program for another CPU; scripts have none of their own
   */
  record Node(int mode, String target, boolean foreign) {
    static final int TYPE = 0170000;
    static final int FOLDER = 0040000;
    static final int FILE = 0100000;
    static final int LINK = 0120000;

    /** The number of bytes at the beginning of a file that tell what it is. */
    static final int HEAD = 20;

    /** The header of an ELF file (elf(5)): e_machine, and its value for x86-64. */
    private static final int MACHINE = 18;

    private static final int X86_64 = 62;
    private static final int ELF = 0x464c457f;

    /** A folder or a special file. */
    static Node of(int mode) {
      return new Node(mode, "", false);
    }

    /** A symbolic link. */
    static Node link(int mode, String target) {
      return new Node(mode, target, false);
    }

    /** A regular file that begins with these bytes. */
    static Node file(int mode, byte[] head) {
      ByteBuffer bytes = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
      boolean foreign =
          head.length == HEAD && bytes.getInt(0) == ELF && bytes.getShort(MACHINE) != X86_64;
      return new Node(mode, "", foreign);
    }

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
    Deque<String> todo = new ArrayDeque<>(Arrays.asList(path.split("/", -1)));
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
        String[] parts = found.get().target().split("/", -1);
        for (int i = parts.length - 1; i >= 0; i--) {
          todo.push(parts[i]);
        }
      }
    }
    return at(String.join("/", done));
  }
}
