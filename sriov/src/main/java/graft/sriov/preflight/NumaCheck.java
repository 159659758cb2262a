package graft.sriov.preflight;

import graft.sriov.files.Sysfs;
import graft.sriov.host.NumaNode;
import java.util.List;

/**
 * Says which NUMA nodes can hold guests: the memory of large GPUs, and memory behind CXL, shows as
 * nodes without CPUs, 32 of 34 on some hosts.
 */
final class NumaCheck {
  private NumaCheck() {}

  static List<Finding> check(Sysfs files) {
    List<NumaNode> nodes = NumaNode.readAll(files);
    List<Integer> withCpus =
        nodes.stream().filter(NumaNode::hasCpus).map(NumaNode::number).toList();
    return nodes.size() == withCpus.size()
        ? List.of()
        : List.of(
            Finding.ok(
                "NUMA",
                nodes.size()
                    + " nodes, of which "
                    + withCpus
                    + " have CPUs; guests are placed on no other"));
  }
}
