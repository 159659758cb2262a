package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.sriov.files.PciPaths;
import graft.sriov.host.PciDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Claims a GPU for a container. The GPU stays bound to NVIDIA's driver, whose device nodes the
 * container gets by its definition.
 *
 * @param setup the name of the deployment that the guest belongs to
 * @param what the GPU's description in plans
 * @param claims the folder of all claims
 */
public record LendGpu(String guest, String setup, PciAddress device, String what, Path claims)
    implements LendsDevice {
  /** The driver that serves a container's programs. */
  public static final String DRIVER = "nvidia";

  @Override
  public String describe() {
    return "give it " + what + ", which stays bound to " + DRIVER;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    DeviceFacts devices = snapshot.devices();
    Optional<PciDevice> there = devices.host().pci().device(device);
    return there.flatMap(PciDevice::driver).equals(Optional.of(DRIVER))
        && holder().equals(devices.claims().get(device.toString()));
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    new DeviceClaims(claims).claim(device.toString(), holder());
    Optional<String> driver = context.host().files().linkName(PciPaths.device(device, "driver"));
    if (!driver.equals(Optional.of(DRIVER))) {
      throw new StepFailure(
          device + " is no longer bound to " + DRIVER + ", but to " + driver.orElse("no driver"),
          "apply again, to plan with the present state");
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    new DeviceClaims(claims).release(device.toString(), holder());
  }
}
