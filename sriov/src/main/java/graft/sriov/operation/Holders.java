package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.DeviceFiles;
import graft.sriov.host.DeviceUser;
import graft.sriov.host.HostProcessesReader;
import java.util.List;
import java.util.stream.Collectors;

/** Says who holds a device, when something has to be said about it. */
final class Holders {
  private Holders() {}

  /** {@code held by python3 (process 812, /dev/nvidia0)}, or what else may explain a hang. */
  static String describe(Sysfs files, PciAddress device) {
    List<DeviceUser> users =
        DeviceFiles.users(files, new HostProcessesReader(files).read(), device);
    if (!users.isEmpty()) {
      return "held by "
          + users.stream().map(DeviceUser::toString).collect(Collectors.joining(", "));
    }
    String power =
        files
            .read(PciPaths.device(device, "power_state"))
            .map(state -> ", its power state is " + state)
            .orElse("");
    return "no process has it open" + power;
  }
}
