package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds the files below {@code /dev} that belong to a PCI function. */
public final class DeviceFiles {
  /** A folder of the device in sysfs, and the folder of the files that the first folder names. */
  private static final List<Map.Entry<String, String>> FOLDERS =
      List.of(
          Map.entry("drm", "/dev/dri/"),
          Map.entry("infiniband_verbs", "/dev/infiniband/"),
          Map.entry("infiniband_mad", "/dev/infiniband/"),
          Map.entry("infiniband_cm", "/dev/infiniband/"),
          Map.entry("vfio-dev", "/dev/vfio/devices/"));

  private DeviceFiles() {}

  /** The device's files that exist now, according to the entries of its driver in sysfs. */
  public static List<String> of(Sysfs files, PciAddress address) {
    return of(files, address, Set.copyOf(files.list(PciPaths.device(address))));
  }

  /**
   * The device's files, for a device whose folder has already been listed.
   *
   * @param names the names in the folder; most devices have none of the relevant names, and are not
   *     read further
   */
  static List<String> of(Sysfs files, PciAddress address, Set<String> names) {
    if (!names.contains("driver")) {
      return List.of();
    }
    String folder = PciPaths.device(address);
    String driver = files.linkName(folder + "/driver").orElse("");
    List<String> paths = new ArrayList<>();
    if (driver.equals("nvidia")) {
      NvidiaGpus.minor(files, address).ifPresent(minor -> paths.add("/dev/nvidia" + minor));
    }
    for (Map.Entry<String, String> kind : FOLDERS) {
      if (names.contains(kind.getKey())) {
        files.list(folder + "/" + kind.getKey()).forEach(name -> paths.add(kind.getValue() + name));
      }
    }
    // A process that has the group's file open holds every member that is bound to vfio-pci, and no
    // others.
    if (driver.equals("vfio-pci")) {
      files.linkName(folder + "/iommu_group").ifPresent(group -> paths.add("/dev/vfio/" + group));
    }
    return paths;
  }

  /** The processes that have a device open. */
  public static List<DeviceUser> users(Sysfs files, HostProcesses processes, PciAddress address) {
    return of(files, address).stream().flatMap(path -> processes.usersOf(path).stream()).toList();
  }
}
