package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.RdmaPort.LinkLayer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the RDMA devices of one PCI function. */
final class RdmaReader {
  private static final int GIDS = 8;
  private static final String ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

  private final Sysfs files;

  RdmaReader(Sysfs files) {
    this.files = files;
  }

  List<RdmaDevice> read(PciAddress address) {
    String folder = PciPaths.device(address, "infiniband");
    return files.list(folder).stream()
        .map(name -> device(address, name, folder + "/" + name))
        .toList();
  }

  private RdmaDevice device(PciAddress address, String name, String folder) {
    List<String> names = files.list(folder);
    List<RdmaPort> ports =
        files.list(folder + "/ports").stream()
            .map(number -> port(Numbers.decode(number), folder + "/ports/" + number + "/"))
            .toList();
    return new RdmaDevice(
        name,
        address,
        guid(folder + "/node_guid"),
        guid(folder + "/sys_image_guid"),
        text(folder + "/fw_ver"),
        names.contains("board_id") ? text(folder + "/board_id") : "",
        ports,
        names.contains("iov"));
  }

  private RdmaPort port(int number, String folder) {
    LinkLayer layer =
        switch (text(folder + "link_layer")) {
          case "InfiniBand" -> LinkLayer.INFINIBAND;
          case "Ethernet" -> LinkLayer.ETHERNET;
          default -> LinkLayer.UNKNOWN;
        };
    return new RdmaPort(
        number,
        afterColon(text(folder + "state")),
        afterColon(text(folder + "phys_state")),
        layer,
        text(folder + "rate"),
        Numbers.decode(text(folder + "lid")),
        Numbers.decode(text(folder + "sm_lid")),
        gids(folder + "gids/"));
  }

  /**
   * A RoCE port has up to 256 GIDs, most of them zero. Reading all of them would take most of the
   * time of a pass.
   */
  private List<String> gids(String folder) {
    List<String> gids = new ArrayList<>();
    for (int i = 0; i < GIDS; i++) {
      Optional<String> gid = files.read(folder + i).filter(text -> !text.equals(ZERO_GID));
      if (gid.isEmpty()) {
        break;
      }
      gids.add(gid.get());
    }
    return gids;
  }

  private Optional<Guid> guid(String path) {
    try {
      return files.read(path).map(Guid::parseBits).filter(bits -> bits != 0).map(Guid::new);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private String text(String path) {
    return files.read(path).orElse("").intern();
  }

  /** The kernel prints number and name, as in {@code 4: ACTIVE}. */
  private static String afterColon(String text) {
    return text.substring(text.indexOf(':') + 1).strip().intern();
  }
}
