package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaPort;
import graft.sriov.host.RdmaPort.LinkLayer;
import graft.sriov.operation.StoreFile;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The module options that make mlx4 create its VFs when the module is loaded, and never later
 * (Linux, drivers/net/ethernet/mellanox/mlx4/main.c: {@code num_vfs}, {@code probe_vf}, {@code
 * port_type_array}). The options apply to every mlx4 adapter of the host. The host's own driver
 * gets none of the VFs.
 *
 * @param vfs the number of VFs of each adapter
 * @param portTypes the protocol of each port, 1 for InfiniBand and 2 for Ethernet; empty to let the
 *     adapter choose
 */
public record Mlx4Options(int vfs, List<Integer> portTypes) {
  public static final String MODULE = "mlx4_core";
  public static final String PATH = "/etc/modprobe.d/graft-mlx4.conf";

  /** What to do so that the options take effect. */
  public static final String RELOAD =
      "modprobe -r mlx4_en mlx4_ib mlx4_core && modprobe mlx4_core, which takes its ports down; or"
          + " reboot, after update-initramfs -u or dracut -f where mlx4_core is in the initramfs";

  private static final String FOLDER = "/etc/modprobe.d";
  private static final Pattern OPTIONS = Pattern.compile("\\s*options\\s+" + MODULE + "\\s.*");

  public Mlx4Options {
    portTypes = List.copyOf(portTypes);
  }

  static boolean concern(PciDevice pf) {
    return pf.driver().equals(Optional.of(MODULE));
  }

  /** The options that a request needs. */
  static Mlx4Options of(HostState host, VfRequest request) {
    List<RdmaPort> ports = ports(host, request);
    return new Mlx4Options(
        request.count(),
        request
            .link()
            .map(link -> Collections.nCopies(Math.max(1, ports.size()), number(link)))
            .orElse(List.of()));
  }

  /** Whether the module has to be loaded again for a request. */
  static boolean awaited(HostState host, VfRequest request) {
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    boolean otherLink =
        request.link().isPresent()
            && ports(host, request).stream()
                .anyMatch(port -> port.linkLayer() != request.link().get());
    return concern(pf) && (pf.sriov().orElseThrow().numVfs() != request.count() || otherLink);
  }

  private static List<RdmaPort> ports(HostState host, VfRequest request) {
    return host.pci().rdmaOf(request.pf()).stream().flatMap(r -> r.ports().stream()).toList();
  }

  private static int number(LinkLayer link) {
    return link == LinkLayer.ETHERNET ? 2 : 1;
  }

  /** The host's files with options of the module, each with the relevant lines. */
  static SortedMap<String, String> read(Sysfs files) {
    SortedMap<String, String> found = new TreeMap<>();
    for (String name : files.list(FOLDER)) {
      String path = FOLDER + "/" + name;
      String lines =
          files
              .read(path)
              .orElse("")
              .lines()
              .filter(line -> OPTIONS.matcher(line).matches())
              .collect(Collectors.joining("\n"));
      if (name.endsWith(".conf") && !lines.isEmpty()) {
        found.put(path, lines);
      }
    }
    return found;
  }

  /** The operation that writes the options, on behalf of one of the adapters. */
  public StoreFile operation(PciAddress pf) {
    return new StoreFile(pf, PATH, line() + "\n");
  }

  /** The line in the format of modprobe.d(5). */
  public String line() {
    String types = portTypes.stream().map(String::valueOf).collect(Collectors.joining(","));
    return "options "
        + MODULE
        + " num_vfs="
        + vfs
        + " probe_vf=0"
        + (types.isEmpty() ? "" : " port_type_array=" + types);
  }
}
