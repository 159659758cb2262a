package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;

/**
 * What a container gets of a network adapter's function that stays bound to the host's driver: its
 * network interfaces, and the device nodes of its RDMA device.
 *
 * @param interfaces the names of the interfaces that are in this process's network namespace
 * @param rdma the names of the RDMA devices that this process's network namespace shows
 * @param nodes the device nodes by which programs use the RDMA devices
 */
public record LentAdapter(List<String> interfaces, List<String> rdma, List<String> nodes) {
  /** The folder of all device nodes of RDMA. */
  public static final String NODES = "/dev/infiniband/";

  /** The node of RDMA's connection manager, which serves each network namespace for itself. */
  private static final String CONNECTION_MANAGER = NODES + "rdma_cm";

  /**
   * The kernel's {@code ib_devices_shared_netns} (drivers/infiniband/core/device.c), which {@code
   * rdma system set netns} changes.
   */
  private static final String SHARED = "/sys/module/ib_core/parameters/netns_mode";

  public LentAdapter {
    interfaces = List.copyOf(interfaces);
    rdma = List.copyOf(rdma);
    nodes = List.copyOf(nodes);
  }

  /** Reads a function as it is now. */
  public static LentAdapter read(Sysfs files, PciAddress function) {
    PciFunction seen = PciFunction.read(files, function);
    List<String> nodes =
        new ArrayList<>(
            DeviceFiles.of(files, function).stream()
                .filter(path -> path.startsWith(NODES + "uverbs"))
                .toList());
    if (!nodes.isEmpty() && files.exists(CONNECTION_MANAGER)) {
      nodes.add(CONNECTION_MANAGER);
    }
    return new LentAdapter(
        seen.device().interfaces().stream().map(NetInterface::name).sorted().toList(),
        seen.rdma().stream().map(RdmaDevice::name).sorted().toList(),
        nodes);
  }

  /**
   * Whether an RDMA device belongs to one network namespace only ({@code rdma system}: {@code netns
   * exclusive}), so that a container with its device node alone could not use it.
   */
  public static boolean rdmaIsExclusive(Sysfs files) {
    return files.read(SHARED).filter(text -> text.equals("N") || text.equals("0")).isPresent();
  }
}
