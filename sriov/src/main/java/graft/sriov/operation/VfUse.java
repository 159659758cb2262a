package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HostProcesses;
import graft.sriov.host.HostProcessesReader;
import graft.sriov.host.PciDevice;
import java.util.Optional;

/** Checks whether VFs may be in use, immediately before they would be removed. */
final class VfUse {
  private final Sysfs files;
  private final HostProcesses processes;

  VfUse(Sysfs files) {
    this.files = files;
    this.processes = new HostProcessesReader(files).read();
  }

  Optional<Problem> reason(PciAddress vf) {
    Optional<String> holders = Holders.find(files, processes, vf);
    Optional<String> passthrough =
        BindDriver.driver(files, vf)
            .filter(PciDevice.PASSTHROUGH_DRIVERS::contains)
            .map(driver -> "bound to " + driver);
    return holders
        .or(() -> passthrough)
        .map(
            why ->
                new Problem(
                    vf,
                    "it is " + why + ", and changing the number of VFs would remove it",
                    "Detach it from its guest, or stop the process, and release it to the host"
                        + " first"));
  }
}
