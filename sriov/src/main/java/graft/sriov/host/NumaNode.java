package graft.sriov.host;

import graft.common.values.MemorySize;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A NUMA node of the host (Linux, Documentation/ABI/stable/sysfs-devices-node).
 *
 * @param number the kernel's number of the node
 * @param cpus the node's CPUs, in order
 * @param memory the total memory of the node
 * @param free the unused memory, without huge pages
 * @param hugePages the huge pages of each size that the host supports
 */
public record NumaNode(
    int number, List<Integer> cpus, MemorySize memory, MemorySize free, List<HugePages> hugePages) {
  private static final String FOLDER = "/sys/devices/system/node";
  private static final Pattern NODE = Pattern.compile("node([0-9]{1,4})");
  private static final Pattern PAGES = Pattern.compile("hugepages-([0-9]{1,12})kB");
  private static final Pattern LINE = Pattern.compile("Node \\d+ (\\w+):\\s+(\\d+) kB");

  public NumaNode {
    cpus = List.copyOf(cpus);
    hugePages = List.copyOf(hugePages);
  }

  /** Reads all nodes of a host, sorted by number; none if the kernel was built without NUMA. */
  public static List<NumaNode> readAll(Sysfs files) {
    List<NumaNode> nodes = new ArrayList<>();
    for (String name : files.list(FOLDER)) {
      Matcher node = NODE.matcher(name);
      if (node.matches()) {
        nodes.add(read(files, Integer.parseInt(node.group(1))));
      }
    }
    nodes.sort((a, b) -> Integer.compare(a.number, b.number));
    return nodes;
  }

  /** Whether it has CPUs: the memory of some GPUs, and memory behind CXL, is a node without. */
  public boolean hasCpus() {
    return !cpus.isEmpty();
  }

  /** The folder of a node's huge pages of one size. */
  public static String hugePageFolder(int node, MemorySize size) {
    return FOLDER + "/node" + node + "/hugepages/hugepages-" + size.bytes() / 1024 + "kB";
  }

  /**
   * The node's huge pages of one size; empty if the host's CPU or kernel does not support the size.
   */
  public Optional<HugePages> pages(MemorySize size) {
    return hugePages.stream().filter(pages -> pages.size().equals(size)).findFirst();
  }

  private static NumaNode read(Sysfs files, int number) {
    String folder = FOLDER + "/node" + number;
    String meminfo = files.read(folder + "/meminfo").orElse("");
    List<HugePages> pages = new ArrayList<>();
    for (String name : files.list(folder + "/hugepages")) {
      Matcher size = PAGES.matcher(name);
      if (size.matches()) {
        String at = folder + "/hugepages/" + name;
        pages.add(
            new HugePages(
                new MemorySize(Long.parseLong(size.group(1)) * 1024),
                number(files, at + "/nr_hugepages"),
                number(files, at + "/free_hugepages")));
      }
    }
    return new NumaNode(
        number,
        cpus(files.read(folder + "/cpulist").orElse("")),
        memory(meminfo, "MemTotal"),
        memory(meminfo, "MemFree"),
        pages);
  }

  private static int number(Sysfs files, String path) {
    return files
        .read(path)
        .filter(text -> text.matches("[0-9]{1,9}"))
        .map(Integer::parseInt)
        .orElse(0);
  }

  private static MemorySize memory(String meminfo, String field) {
    Matcher line = LINE.matcher(meminfo);
    while (line.find()) {
      if (line.group(1).equals(field)) {
        return new MemorySize(Long.parseLong(line.group(2)) * 1024);
      }
    }
    return new MemorySize(0);
  }

  /** Parses the kernel's list format, {@code 0-3,8}. The list is empty for a node without CPUs. */
  private static List<Integer> cpus(String list) {
    List<Integer> cpus = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      String[] ends = part.strip().split("-", 2);
      if (!ends[0].isEmpty()) {
        int last = Integer.parseInt(ends[ends.length - 1]);
        for (int cpu = Integer.parseInt(ends[0]); cpu <= last; cpu++) {
          cpus.add(cpu);
        }
      }
    }
    return cpus;
  }
}
