package graft.sriov.check;

import graft.common.values.PciAddress;
import graft.sriov.HostException;
import graft.sriov.host.HostPci;
import graft.sriov.host.NvidiaGpu;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.host.RdmaPort;
import graft.sriov.preflight.Preflight;
import graft.sriov.vf.HostAccess;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Tests a host's hardware: {@code docs/hardware-checklist.md} shows the output for working
 * hardware.
 *
 * <pre>
 *   HardwareCheck look
 *   HardwareCheck vfs PF COUNT [DRIVER]
 *   HardwareCheck passthrough DEVICE
 * </pre>
 *
 * <p>{@code look} only reads. The other two commands change the host and undo all changes, even if
 * a change fails; they refuse devices that are in use. The exit code is 0 if all results were as
 * expected, 1 if a result was not, and 2 for a wrong command line.
 */
public final class HardwareCheck {
  private final HostAccess host;
  private final PrintStream out;

  HardwareCheck(HostAccess host, PrintStream out) {
    this.host = host;
    this.out = out;
  }

  public static void main(String[] args) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.exit(new HardwareCheck(HostAccess.thisHost(), out).run(args));
  }

  int run(String... args) {
    try {
      if (args.length == 1 && args[0].equals("look")) {
        return look();
      }
      Trial trial = new Trial(host, out);
      if ((args.length == 3 || args.length == 4) && args[0].equals("vfs")) {
        String driver = args.length == 4 ? args[3] : "";
        return trial.vfs(PciAddress.parse(args[1]), Integer.parseInt(args[2]), driver) ? 0 : 1;
      }
      if (args.length == 2 && args[0].equals("passthrough")) {
        return trial.passthrough(PciAddress.parse(args[1])) ? 0 : 1;
      }
    } catch (HostException e) {
      out.println("FAILED " + e.getMessage());
      return 1;
    } catch (IllegalArgumentException e) {
      out.println(e.getMessage());
    }
    out.println("usage: look | vfs PF COUNT [DRIVER] | passthrough DEVICE");
    return 2;
  }

  private int look() {
    HostPci pci = HostPci.read(host.files());
    for (PciDevice device : pci.devices().values()) {
      if (device.sriov().isPresent() || device.isDisplay() || device.isVirtualFunction()) {
        out.println(describe(device));
      }
    }
    for (RdmaDevice rdma : pci.rdma()) {
      out.println(describe(rdma));
    }
    for (NvidiaGpu gpu : pci.gpus()) {
      out.println(
          gpu.address() + " /dev/nvidia" + gpu.minor() + " " + gpu.model() + " " + gpu.uuid());
    }
    Preflight.check(host.files(), pci).forEach(out::println);
    return 0;
  }

  private static String describe(PciDevice device) {
    return device.label()
        + device.physicalFunction().map(pf -> ", VF of " + pf).orElse("")
        + device
            .sriov()
            .map(sriov -> ", " + sriov.numVfs() + " of " + sriov.totalVfs() + " VFs")
            .orElse("")
        + device.iommuGroup().map(group -> ", IOMMU group " + group).orElse(", no IOMMU group")
        + (device.numaNode().isPresent() ? ", node " + device.numaNode().getAsInt() : "")
        + (device.resetMethods().isEmpty()
            ? ""
            : ", reset by " + String.join(" ", device.resetMethods()))
        + (device.bootVga() ? ", boot VGA" : "");
  }

  private static String describe(RdmaDevice rdma) {
    StringBuilder text = new StringBuilder(rdma.name() + " of " + rdma.address());
    text.append(", node GUID ")
        .append(rdma.nodeGuid().map(Object::toString).orElse("0"))
        .append(", firmware ")
        .append(rdma.firmware());
    for (RdmaPort port : rdma.ports()) {
      text.append(", port ")
          .append(port.number())
          .append(' ')
          .append(port.linkLayer())
          .append(' ')
          .append(port.state())
          .append(' ')
          .append(port.rate());
    }
    return text.toString();
  }
}
