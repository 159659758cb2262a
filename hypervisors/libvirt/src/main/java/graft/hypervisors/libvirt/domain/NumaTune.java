package graft.hypervisors.libvirt.domain;

import java.util.Locale;

/**
 * Which of the host's NUMA nodes the guest's memory comes from.
 *
 * @param nodes the nodes, not empty
 * @param mode what happens when they are full
 */
public record NumaTune(CpuSet nodes, Mode mode) {
  public NumaTune {
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("memory must come from at least one NUMA node");
    }
  }

  /** What happens when the nodes are full. */
  public enum Mode {
    /** The guest does not start. */
    STRICT,
    /** Memory comes from other nodes. */
    PREFERRED,
    /** Memory comes from all nodes in turn. */
    INTERLEAVE;

    /** libvirt's word for it. */
    public String xmlName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
