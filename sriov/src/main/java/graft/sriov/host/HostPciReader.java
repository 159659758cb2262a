package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads a {@link HostPci}. Every folder is listed once, and only existing files are read. */
final class HostPciReader {
  private static final Set<String> MODULES =
      Set.of(
          "nvidia",
          "nvidia_uvm",
          "nvidia_drm",
          "nvidia_modeset",
          "nvidia_peermem",
          "nvidia_vgpu_vfio",
          "nouveau",
          "vfio_pci",
          "xen_pciback",
          "mlx5_core",
          "mlx5_ib",
          "mlx4_core",
          "mlx4_ib",
          "ib_ipoib",
          "ib_umad",
          "ib_uverbs",
          "kvm",
          "kvm_amd",
          "kvm_intel");

  private final Sysfs files;

  HostPciReader(Sysfs files) {
    this.files = files;
  }

  HostPci read() {
    PciDeviceReader devices = new PciDeviceReader(files);
    // The devices are read in parallel, so that a slow device does not delay the others.
    List<PciFunction> seen =
        files.list(PciPaths.DEVICES).parallelStream()
            .map(PciAddress::tryParse)
            .flatMap(Optional::stream)
            .map(devices::read)
            .toList();
    SortedMap<PciAddress, PciDevice> byAddress = new TreeMap<>();
    seen.forEach(one -> byAddress.put(one.device().address(), one.device()));
    return new HostPci(
        byAddress,
        seen.stream().flatMap(one -> one.rdma().stream()).toList(),
        NvidiaGpus.read(files),
        files.list("/sys/module").stream().filter(MODULES::contains).collect(Collectors.toSet()),
        new HostProcessesReader(files).read(),
        BlockDevices.read(files));
  }
}
