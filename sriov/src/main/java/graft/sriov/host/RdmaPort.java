package graft.sriov.host;

import java.util.List;

/**
 * A port of an RDMA device (Linux, Documentation/ABI/stable/sysfs-class-infiniband).
 *
 * @param number from 1
 * @param state {@code DOWN}, {@code INIT}, {@code ARMED}, {@code ACTIVE}; empty if unknown
 * @param physicalState {@code LinkUp}, {@code Polling}...
 * @param linkLayer InfiniBand or Ethernet (RoCE)
 * @param rate as the kernel prints it: {@code 100 Gb/sec (4X EDR)}
 * @param lid the port's local identifier, 0 if none is assigned
 * @param smLid the local identifier of the subnet manager, 0 if there is none
 * @param gids the first identifiers of the port's table, up to 8, without those that are all zero
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

  /** The protocol of a port's link layer. */
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
