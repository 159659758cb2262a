package graft.sriov.host;

import graft.sriov.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which files below {@code /dev} lead to a PCI function. */
public final class DeviceFiles {
  private DeviceFiles() {}

  /** The files that exist for the device now, by what its driver has registered in sysfs. */
  public static List<String> of(Sysfs files, PciAddress address) {
    String folder = PciPaths.device(address);
    List<String> paths = new ArrayList<>();
    NvidiaGpus.minor(files, address).ifPresent(minor -> paths.add("/dev/nvidia" + minor));
    files.list(folder + "/drm").stream()
        .filter(name -> name.startsWith("card") || name.startsWith("renderD"))
        .forEach(name -> paths.add("/dev/dri/" + name));
    for (String kind : List.of("infiniband_verbs", "infiniband_mad", "infiniband_cm")) {
      files.list(folder + "/" + kind).forEach(name -> paths.add("/dev/infiniband/" + name));
    }
    files.list(folder + "/vfio-dev").forEach(name -> paths.add("/dev/vfio/devices/" + name));
    // Whoever has the group's file open has all members that vfio-pci has, and no others.
    if (files.linkName(folder + "/driver").equals(Optional.of("vfio-pci"))) {
      files.linkName(folder + "/iommu_group").ifPresent(group -> paths.add("/dev/vfio/" + group));
    }
    return paths;
  }

  /** Who holds a device open. */
  public static List<DeviceUser> users(Sysfs files, HostProcesses processes, PciAddress address) {
    return of(files, address).stream().flatMap(path -> processes.usersOf(path).stream()).toList();
  }
}
