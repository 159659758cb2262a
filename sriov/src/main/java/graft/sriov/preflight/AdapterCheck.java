package graft.sriov.preflight;

import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import graft.sriov.host.SriovCapability;
import graft.sriov.vf.VfInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether the ConnectX adapters offer virtual functions and an interface for the settings of
 * VFs.
 */
final class AdapterCheck {
  private static final int INFINIBAND_CLASS = 0x0207;

  /** Connect-IB, the first adapter of mlx5; the adapters of mlx4 have lower numbers. */
  private static final int FIRST_MLX5 = 0x1011;

  private AdapterCheck() {}

  static List<Finding> check(HostPci host) {
    List<Finding> findings = new ArrayList<>();
    for (PciDevice device : host.devices().values()) {
      boolean network = device.pciClass() >> 16 == 0x02;
      if (device.vendor() == PciDevice.MELLANOX && network && !device.isVirtualFunction()) {
        findings.add(check(host, device));
      }
    }
    return findings;
  }

  private static Finding check(HostPci host, PciDevice pf) {
    String subject = pf.address().toString();
    Optional<SriovCapability> capability = pf.sriov().filter(found -> found.totalVfs() > 0);
    if (capability.isEmpty()) {
      String infiniband = pf.pciClass() >> 8 == INFINIBAND_CLASS ? " LINK_TYPE_P1=1" : "";
      return Finding.problem(
          subject,
          "its firmware offers no virtual functions",
          "mlxconfig -d " + subject + " query SRIOV_EN NUM_OF_VFS LINK_TYPE_P1",
          "mlxconfig -d " + subject + " set SRIOV_EN=1 NUM_OF_VFS=16" + infiniband,
          "mlxfwreset -d " + subject + " reset   # or reboot");
    }
    String module = pf.device() < FIRST_MLX5 ? "mlx4_core" : "mlx5_core";
    if (pf.boundForPassthrough()) {
      return Finding.problem(
          subject,
          "its physical function belongs to "
              + pf.driver().get()
              + " in place of its own driver, so that it can make no VFs",
          "echo > /sys/bus/pci/devices/" + subject + "/driver_override",
          "echo " + subject + " > /sys/bus/pci/drivers/" + pf.driver().get() + "/unbind",
          "echo " + subject + " > /sys/bus/pci/drivers/" + module + "/bind");
    }
    if (pf.driver().isEmpty()) {
      return Finding.warning(
          subject, "it has no driver, so it cannot make VFs", "modprobe " + module);
    }
    Optional<VfInterface> vfInterface =
        VfInterface.of(new PciFunction(pf, host.rdmaOf(pf.address())));
    if (vfInterface.isEmpty()) {
      return Finding.problem(
          subject,
          "there is no way to set its VFs' GUIDs: no IPoIB interface, no files of the out-of-tree"
              + " driver",
          "modprobe ib_ipoib");
    }
    return Finding.ok(
        subject,
        "up to "
            + capability.get().totalVfs()
            + " VFs, "
            + capability.get().numVfs()
            + " now; their settings go by "
            + vfInterface.get().name());
  }
}
