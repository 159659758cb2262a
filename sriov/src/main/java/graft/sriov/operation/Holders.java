package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.DeviceFiles;
import graft.sriov.host.DeviceUser;
import graft.sriov.host.HostProcesses;
import graft.sriov.host.HostProcessesReader;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the processes that have a device open. */
final class Holders {
  private Holders() {}

  /**
   * A text such as {@code held by python3 (process 812, /dev/nvidia0)}; empty if no process has the
   * device open.
   */
  static Optional<String> find(Sysfs files, HostProcesses processes, PciAddress device) {
    String users =
        DeviceFiles.users(files, processes, device).stream()
            .map(DeviceUser::toString)
            .collect(Collectors.joining(", "));
    return users.isEmpty() ? Optional.empty() : Optional.of("held by " + users);
  }

  /**
   * The processes that hold the device, or another possible reason why the device does not answer.
   */
  static String describe(Sysfs files, PciAddress device) {
    return find(files, new HostProcessesReader(files).read(), device)
        .orElseGet(
            () ->
                "no process has it open"
                    + files
                        .read(PciPaths.device(device, "power_state"))
                        .map(state -> ", its power state is " + state)
                        .orElse(""));
  }
}
