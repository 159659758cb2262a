package graft.hypervisors.xen;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.capabilities.HostNuma;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the NUMA part of {@code xl info -n}: a table of CPUs (core, socket, node), one of devices
 * (address, node) and one of nodes (MiB, MiB free, distances), each below its title.
 *
 * @see <a href="https://xenbits.xen.org/docs/4.17-testing/man/xl.1.html">xl info</a>
 */
final class XenNuma {
  private static final Pattern CPU = Pattern.compile("\\s*(\\d+):(?:\\s+-?\\d+){2}\\s+(\\d+)\\s*");
  private static final Pattern DEVICE =
      Pattern.compile("([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])\\s+(\\d+)\\s*");
  private static final Pattern NODE =
      Pattern.compile("\\s*(\\d+):\\s+(\\d+)\\s+(\\d+)\\s+[\\d,]+\\s*");

  private XenNuma() {}

  static HostNuma parse(String info) {
    Map<Integer, List<Integer>> cpus = new TreeMap<>();
    Map<String, Integer> devices = new TreeMap<>();
    List<HostNuma.Node> nodes = new ArrayList<>();
    String title = "";
    for (String line : info.lines().toList()) {
      if (line.matches("[a-z_ ]+:")) {
        title = line.substring(0, line.length() - 1).strip();
        continue;
      }
      Matcher cpu = CPU.matcher(line);
      Matcher device = DEVICE.matcher(line);
      Matcher node = NODE.matcher(line);
      if (title.equals("cpu_topology") && cpu.matches()) {
        cpus.computeIfAbsent(number(cpu, 2), any -> new ArrayList<>()).add(number(cpu, 1));
      } else if (title.equals("device topology") && device.matches()) {
        devices.put(device.group(1), number(device, 2));
      } else if (title.equals("numa_info") && node.matches()) {
        nodes.add(
            new HostNuma.Node(
                number(node, 1),
                cpus.getOrDefault(number(node, 1), List.of()),
                MemorySize.ofMib(number(node, 2)),
                MemorySize.ofMib(number(node, 3))));
      }
    }
    return new HostNuma(nodes, devices);
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }
}
