package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import java.util.List;
import java.util.Map;

/**
 * The host's NUMA nodes as reported by its hypervisor.
 *
 * @param devices the node number of each PCI device whose node is known, by the device's address
 */
public record HostNuma(List<Node> nodes, Map<String, Integer> devices) {
  public HostNuma {
    nodes = List.copyOf(nodes);
    devices = Map.copyOf(devices);
  }

  /**
   * A NUMA node.
   *
   * @param cpus the node's CPUs on the host, in order
   * @param free the memory that no guest has
   */
  public record Node(int number, List<Integer> cpus, MemorySize memory, MemorySize free) {
    public Node {
      cpus = List.copyOf(cpus);
    }
  }
}
