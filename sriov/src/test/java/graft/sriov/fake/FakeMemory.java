package graft.sriov.fake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** NUMA nodes and their huge pages: mm/hugetlb.c allocates as many as fit into the free memory. */
final class FakeMemory {
  private static final String FOLDER = "/sys/devices/system/node/node";
  private static final Pattern PAGES =
      Pattern.compile("(" + FOLDER + "[0-9]+)/hugepages/hugepages-([0-9]+)kB/nr_hugepages");
  private static final Pattern FREE = Pattern.compile("MemFree: *([0-9]+) kB");

  private FakeMemory() {}

  static void add(Tree tree, int number, String cpus, long mib) {
    String folder = FOLDER + number;
    tree.file(folder + "/cpulist", cpus);
    memory(tree, folder, number, mib * 1024, mib * 1024);
    for (int size : new int[] {2048, 1048576}) {
      String pages = folder + "/hugepages/hugepages-" + size + "kB/";
      tree.file(pages + "nr_hugepages", "0");
      tree.file(pages + "free_hugepages", "0");
    }
  }

  private static void memory(Tree tree, String folder, int number, long total, long free) {
    tree.file(
        folder + "/meminfo",
        "Node "
            + number
            + " MemTotal:       "
            + total
            + " kB\n"
            + "Node "
            + number
            + " MemFree:        "
            + free
            + " kB");
  }

  /** Writes the number of pages; returns false if the path is another file. */
  static boolean write(Tree tree, String path, String value) {
    Matcher file = PAGES.matcher(path);
    if (!file.matches()) {
      return false;
    }
    String node = file.group(1);
    long size = Long.parseLong(file.group(2));
    String meminfo = text(tree, node + "/meminfo");
    Matcher line = FREE.matcher(meminfo);
    line.find();
    long free = Long.parseLong(line.group(1));
    long before = Long.parseLong(text(tree, path));
    long now = Math.min(Long.parseLong(value), before + free / size);
    String freePages = path.replace("nr_hugepages", "free_hugepages");
    long unused = Long.parseLong(text(tree, freePages)) + now - before;
    tree.file(path, Long.toString(now));
    tree.file(freePages, Long.toString(Math.max(0, unused)));
    tree.file(
        node + "/meminfo",
        meminfo.replace(line.group(), "MemFree:        " + (free - (now - before) * size) + " kB"));
    return true;
  }

  private static String text(Tree tree, String path) {
    try {
      return Files.readString(tree.path(path)).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
