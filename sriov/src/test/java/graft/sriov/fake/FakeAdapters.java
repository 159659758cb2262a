package graft.sriov.fake;

import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import graft.sriov.files.Errno;
import graft.sriov.files.PciPaths;
import graft.sriov.files.WriteFailedException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The ConnectX drivers: RDMA devices, interfaces and the settings that a PF keeps for its VFs. */
final class FakeAdapters {
  private static final int MLX4_GUIDS = 128;
  private static final Pattern OFED_FILE =
      Pattern.compile(PciPaths.DEVICES + "/([0-9a-f:.]+)/sriov/([0-9]+)/([a-z_]+)");
  private static final Pattern MLX4_FILE =
      Pattern.compile(
          PciPaths.DEVICES + "/([0-9a-f:.]+)/infiniband/[^/]+/iov/ports/1/admin_guids/([0-9]+)");

  private FakeAdapters() {}

  static void attach(FakeKernel kernel, FakeDevice device) {
    String folder = kernel.realFolder(device);
    String rdma = folder + "/infiniband/" + device.rdmaName;
    Tree tree = kernel.tree;
    long guid = device.isVf() ? nodeGuid(device) : device.nodeGuid;
    tree.file(rdma + "/node_guid", sysfs(guid));
    tree.file(
        rdma + "/sys_image_guid",
        sysfs(device.isVf() ? device.physicalFunction.nodeGuid : device.nodeGuid));
    tree.file(rdma + "/fw_ver", "20.31.1014");
    tree.file(rdma + "/board_id", "MT_0000000223");
    String port = rdma + "/ports/1/";
    tree.file(port + "state", "4: ACTIVE");
    tree.file(port + "phys_state", "5: LinkUp");
    tree.file(port + "link_layer", device.ethernet ? "Ethernet" : "InfiniBand");
    tree.file(port + "rate", "100 Gb/sec (4X EDR)");
    tree.file(port + "lid", device.ethernet ? "0x0" : "0x1");
    tree.file(port + "sm_lid", device.ethernet ? "0x0" : "0x2");
    tree.file(port + "gids/0", "fe80:0000:0000:0000:" + sysfs(guid));
    tree.link("/sys/class/infiniband/" + device.rdmaName, rdma);
    String net = folder + "/net/" + device.netName;
    tree.file(net + "/ifindex", Integer.toString(device.interfaceIndex()));
    tree.file(net + "/type", device.ethernet ? "1" : "32");
    tree.file(net + "/dev_port", "0");
    tree.file(net + "/address", "00:00:10:49:fe:80:00:00");
    tree.file(net + "/operstate", device.isVf() ? "down" : "up");
    tree.link("/sys/class/net/" + device.netName, net);
    if (device.ofed) {
      tree.folder(folder + "/sriov");
    }
    if (device.driver.equals("mlx4_core") && !device.isVf()) {
      for (int i = 0; i < MLX4_GUIDS; i++) {
        tree.file(rdma + "/iov/ports/1/admin_guids/" + i, "0");
      }
    }
  }

  static void detach(FakeKernel kernel, FakeDevice device) {
    String folder = kernel.realFolder(device);
    kernel.tree.delete("/sys/class/infiniband/" + device.rdmaName);
    kernel.tree.delete("/sys/class/net/" + device.netName);
    kernel.tree.delete(folder + "/infiniband");
    kernel.tree.delete(folder + "/net");
    kernel.tree.delete(folder + "/sriov");
  }

  private static long nodeGuid(FakeDevice vf) {
    return Optional.ofNullable(vf.physicalFunction.vfSettings.get(vf.vfIndex))
        .flatMap(settings -> settings.nodeGuid().or(settings::portGuid))
        .map(Guid::value)
        .orElse(0L);
  }

  private static String sysfs(long bits) {
    return bits == 0 ? "0000:0000:0000:0000" : new Guid(bits).toSysfs();
  }

  static void vfAppears(FakeKernel kernel, FakeDevice pf, FakeDevice vf) {
    if (!pf.connectx()) {
      return;
    }
    VfSettings fresh = VfSettings.NONE.withPolicy(VfPolicy.FOLLOW);
    pf.vfSettings.putIfAbsent(
        vf.vfIndex, pf.ethernet ? fresh.withTrust(false).withRate(new VfRate(0, 0)) : fresh);
    String folder = kernel.realFolder(pf);
    if (pf.ofed) {
      showOfed(kernel, pf, vf.vfIndex);
    }
    if (!pf.numvfsWritable) {
      // get_name of drivers/infiniband/hw/mlx4/sysfs.c prints the device number in decimal.
      int slave = vf.vfIndex + 1;
      String name =
          String.format("%s%02d.%d", pf.address.toString().substring(0, 8), slave / 8, slave % 8);
      kernel.tree.file(
          folder + "/infiniband/" + pf.rdmaName + "/iov/" + name + "/ports/1/gid_idx/0",
          Integer.toString(slave));
    }
  }

  static void vfGoes(FakeKernel kernel, FakeDevice pf, int index) {
    kernel.tree.delete(kernel.realFolder(pf) + "/sriov/" + index);
  }

  /** Both interfaces show the same settings. */
  static void settingsChanged(FakeKernel kernel, FakeDevice pf, int index) {
    if (pf.ofed) {
      showOfed(kernel, pf, index);
    }
  }

  private static void showOfed(FakeKernel kernel, FakeDevice pf, int index) {
    String folder = kernel.realFolder(pf) + "/sriov/" + index + "/";
    VfSettings settings = pf.vfSettings.get(index);
    kernel.tree.file(folder + "policy", settings.policy().orElseThrow().text());
    kernel.tree.file(folder + "node", colons(settings.nodeGuid()));
    kernel.tree.file(folder + "port", colons(settings.portGuid()));
    kernel.tree.file(folder + "mac", "usage: write <LLADDR|Random> to set VF Mac Address");
    kernel.tree.file(folder + "trust", "usage: write <ON|OFF> to trust|untrust VF");
    kernel.tree.file(folder + "max_tx_rate", "usage: write <Rate (Mbit/s)> to set VF max rate");
    kernel.tree.file(folder + "min_tx_rate", "usage: write <Rate (Mbit/s)> to set VF min rate");
  }

  private static String colons(Optional<Guid> guid) {
    return guid.map(Guid::toString).orElse("00:00:00:00:00:00:00:00");
  }

  /** Writes to a file of an adapter; returns false if the path is not such a file. */
  static boolean write(FakeKernel kernel, String path, String value) {
    Matcher ofed = OFED_FILE.matcher(path);
    Matcher mlx4 = MLX4_FILE.matcher(path);
    if (ofed.matches()) {
      FakeDevice pf = kernel.device(PciAddress.parse(ofed.group(1)));
      int index = Integer.parseInt(ofed.group(2));
      VfSettings before = pf.vfSettings.get(index);
      try {
        pf.vfSettings.put(index, changed(before, ofed.group(3), value));
      } catch (IllegalArgumentException e) {
        throw new WriteFailedException(path, value, Errno.EINVAL);
      }
      showOfed(kernel, pf, index);
      return true;
    }
    if (mlx4.matches()) {
      FakeDevice pf = kernel.device(PciAddress.parse(mlx4.group(1)));
      int index = Integer.parseInt(mlx4.group(2)) - 1;
      long bits = Long.parseUnsignedLong(value.startsWith("0x") ? value.substring(2) : value, 16);
      VfSettings before = pf.vfSettings.getOrDefault(index, VfSettings.NONE);
      pf.vfSettings.put(
          index,
          bits == 0
              ? VfSettings.NONE.or(VfSettings.NONE.withPolicy(before.policy().orElseThrow()))
              : before.withPortGuid(new Guid(bits)));
      // The driver prints the value with %llx: without 0x and leading zeros.
      kernel.tree.file(path, Long.toHexString(bits));
      return true;
    }
    return false;
  }

  private static VfSettings changed(VfSettings before, String name, String value) {
    return switch (name) {
      case "node" -> before.withNodeGuid(Guid.parse(value));
      case "port" -> before.withPortGuid(Guid.parse(value));
      case "policy", "link_state" -> {
        for (VfPolicy policy : VfPolicy.values()) {
          if (policy.text().equals(value)) {
            yield before.withPolicy(policy);
          }
        }
        throw new IllegalArgumentException(value);
      }
      case "mac" -> before.withMac(MacAddress.parse(value));
      case "trust" -> before.withTrust(value.equals("ON"));
      default -> throw new IllegalArgumentException(name);
    };
  }
}
