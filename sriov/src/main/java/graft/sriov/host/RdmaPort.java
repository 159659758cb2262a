package graft.sriov.host;

import java.util.List;

/**
 * A port of an RDMA device (Linux, Documentation/ABI/stable/sysfs-class-infiniband).
 *
 * @param number from 1
 * @param state {@code DOWN}, {@code INIT}, {@code ARMED}, {@code ACTIVE}; empty when unknown
 * @param physicalState {@code LinkUp}, {@code Polling}...
 * @param linkLayer InfiniBand or Ethernet (RoCE)
 * @param rate as the kernel says it: {@code 100 Gb/sec (4X EDR)}
 * @param lid its local identifier, 0 when none has been assigned
 * @param smLid that of the subnet manager, 0 when there is none
 * @param gids the first identifiers of its table, up to 8, without those that are all zero
 */
public record RdmaPort(
    int number,
    String state,
    String physicalState,
    LinkLayer linkLayer,
    String rate,
    int lid,
    int smLid,
    List<String> gids) {

  /** What a port speaks. */
  public enum LinkLayer {
    INFINIBAND,
    ETHERNET,
    UNKNOWN
  }

  public RdmaPort {
    gids = List.copyOf(gids);
  }

  public boolean active() {
    return state.equals("ACTIVE");
  }
}
