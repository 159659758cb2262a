package graft.deployment.gpu;

import graft.sriov.files.Sysfs;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;

/** Follows the symbolic links of a path of the host. */
final class RealPath {
  /** As many as Linux follows in a path (path_resolution(7)). */
  private static final int MOST_LINKS = 40;

  private RealPath() {}

  /** The path without links; empty if there is no such file, or its links lead in a circle. */
  static Optional<String> of(Sysfs files, String path) {
    Deque<String> todo = new ArrayDeque<>(Arrays.asList(path.split("/", -1)));
    Deque<String> done = new ArrayDeque<>();
    int links = 0;
    while (!todo.isEmpty()) {
      String part = todo.pop();
      if (part.equals("..")) {
        done.pollLast();
      } else if (!part.isEmpty() && !part.equals(".")) {
        done.add(part);
      }
      Optional<String> target = files.readLink(text(done));
      if (target.isPresent()) {
        if (++links > MOST_LINKS) {
          return Optional.empty();
        }
        done.removeLast();
        if (target.get().startsWith("/")) {
          done.clear();
        }
        String[] parts = target.get().split("/", -1);
        for (int i = parts.length - 1; i >= 0; i--) {
          todo.push(parts[i]);
        }
      }
    }
    return Optional.of(text(done)).filter(files::exists);
  }

  private static String text(Deque<String> parts) {
    return "/" + String.join("/", parts);
  }
}
