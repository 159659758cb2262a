package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.CpuSet;
import java.util.Map;

/**
 * A NUMA node of the host.
 *
 * @param id the kernel's node number
 * @param memory the memory that is installed on the node
 * @param cpus the node's CPUs
 * @param hugePages the number of huge pages that are allocated on the node, by their size
 * @param distances the distance to each node; 10 to the node itself
 */
public record NumaCell(
    int id,
    MemorySize memory,
    CpuSet cpus,
    Map<MemorySize, Long> hugePages,
    Map<Integer, Integer> distances) {
  public NumaCell {
    hugePages = Map.copyOf(hugePages);
    distances = Map.copyOf(distances);
  }
}
