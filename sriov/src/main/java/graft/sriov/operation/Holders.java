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

/** Finds the processes that hold a device. */
final class Holders {
  private Holders() {}

  /** {@code held by python3 (process 812, /dev/nvidia0)}; empty when no process has it open. */
  static Optional<String> find(Sysfs files, HostProcesses processes, PciAddress device) {
    String users =
        DeviceFiles.users(files, processes, device).stream()
            .map(DeviceUser::toString)
            .collect(Collectors.joining(", "));
    return users.isEmpty() ? Optional.empty() : Optional.of("held by " + users);
  }

  /** Who holds it, or what else may explain why it does not answer. */
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
