package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.CpuSet;
import java.util.Map;

/**
 * A NUMA node of the host.
 *
 * @param id the kernel's node number
 * @param memory installed on it
 * @param cpus its CPUs
 * @param hugePages for each size of huge page, how many are allocated on this node
 * @param distances to each node, 10 to itself
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
