package graft.hypervisors.libvirt.domain;

import java.util.Locale;

/**
 * The host's NUMA nodes that provide the guest's memory.
 *
 * @param nodes the nodes, not empty
 * @param mode the behaviour when the nodes are full
 */
public record NumaTune(CpuSet nodes, Mode mode) {
  public NumaTune {
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("memory must come from at least one NUMA node");
    }
  }

  /** The behaviour when the nodes are full. */
  public enum Mode {
    /** The guest does not start. */
    STRICT,
    /** Memory comes from other nodes. */
    PREFERRED,
    /** Memory comes from all nodes in turn. */
    INTERLEAVE;

    /** libvirt's name of the mode. */
    public String xmlName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
