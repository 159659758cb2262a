package graft.guests.connection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cgroups of a process, of both versions of Linux's interface (cgroups(7)). */
final class Cgroups {
  private static final String VERSION_2 = "";

  private Cgroups() {}

  /**
   * The files by which a process moves to the cgroups of another one.
   *
   * @param process the number of the other process
   * @param proc where the host's /proc is
   * @throws IOException if one of them is in a hierarchy that is not mounted: the limits there
   *     would not hold
   */
  static List<String> of(long process, Path proc) throws IOException {
    Map<String, String> mounts = mounts(proc.resolve("self/mountinfo"));
    List<String> files = new ArrayList<>();
    for (String line : Files.readAllLines(proc.resolve(process + "/cgroup"))) {
      // hierarchy number, controllers, path
      String[] fields = line.split(":", 3);
      if (fields[2].equals("/")) {
        continue;
      }
      String mount = mounts.get(fields[1]);
      if (mount == null) {
        throw new IOException("its cgroup " + line + " is mounted nowhere");
      }
      files.add(mount + fields[2] + "/cgroup.procs");
    }
    return files;
  }

  /** Where each hierarchy is mounted, by its controllers as {@code /proc/PID/cgroup} has them. */
  private static Map<String, String> mounts(Path mountinfo) throws IOException {
    Map<String, String> mounts = new LinkedHashMap<>();
    for (String line : Files.readAllLines(mountinfo)) {
      // ... the mount point is the fifth field; after " - " come type, source, options
      int dash = line.indexOf(" - ");
      String[] before = line.substring(0, dash).split(" ", -1);
      String[] after = line.substring(dash + 3).split(" ", -1);
      if (after[0].equals("cgroup2")) {
        mounts.putIfAbsent(VERSION_2, before[4]);
      } else if (after[0].equals("cgroup")) {
        mounts.putIfAbsent(controllers(after[2]), before[4]);
      }
    }
    return mounts;
  }

  private static String controllers(String options) {
    List<String> named = new ArrayList<>();
    for (String option : options.split(",", -1)) {
      if (!option.equals("rw")
          && !option.equals("ro")
          && !option.equals("xattr")
          && !option.equals("noprefix")
          && !option.equals("cpuset_v2_mode")
          && !option.startsWith("release_agent=")
          && !option.equals("clone_children")) {
        named.add(option);
      }
    }
    return String.join(",", named);
  }
}
