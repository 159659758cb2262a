package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import java.util.List;
import java.util.Map;

/**
 * The host's NUMA nodes as its hypervisor tells them.
 *
 * @param devices the node of each PCI device whose node is known, by the device's address
 */
public record HostNuma(List<Node> nodes, Map<String, Integer> devices) {
  public HostNuma {
    nodes = List.copyOf(nodes);
    devices = Map.copyOf(devices);
  }

  /**
   * One node.
   *
   * @param cpus the host's, in order
   * @param free what no guest has
   */
  public record Node(int number, List<Integer> cpus, MemorySize memory, MemorySize free) {
    public Node {
      cpus = List.copyOf(cpus);
    }
  }
}
