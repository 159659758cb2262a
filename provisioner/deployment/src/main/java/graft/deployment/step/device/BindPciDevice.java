package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.sriov.StubDriver;
import graft.sriov.files.PciPaths;
import graft.sriov.host.PciDevice;
import graft.sriov.operation.BindDriver;
import graft.sriov.plan.GroupCheck;
import graft.sriov.vf.HostAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Assigns a PCI function to a guest: claims it, and binds it to the hypervisor's driver.
 *
 * @param setup the name of the deployment that the guest belongs to
 * @param function which virtual function it is; absent for other devices
 * @param what the device's description in plans
 * @param claims the folder of all claims
 * @param stub the hypervisor's driver; vfio-pci if absent
 */
public record BindPciDevice(
    String guest,
    String setup,
    PciAddress device,
    Optional<Function> function,
    String what,
    Path claims,
    Optional<StubDriver> stub)
    implements AssignsDevice {

  /**
   * Which virtual function.
   *
   * @param pf its physical function
   * @param index its number
   */
  public record Function(PciAddress pf, int index) {
    /** Checks that the kernel made the function at the address that the plan computed for it. */
    void checkPlace(HostAccess host, PciAddress device) {
      Optional<String> place = host.files().linkName(PciPaths.device(pf, "virtfn" + index));
      if (!place.equals(Optional.of(device.toString()))) {
        throw new StepFailure(
            "virtual function "
                + index
                + " of "
                + pf
                + place.map(there -> " is at " + there).orElse(" is not there")
                + " and not at "
                + device,
            "apply again, to plan with the present state");
      }
    }
  }

  @Override
  public String assigned() {
    return device.toString();
  }

  @Override
  public String describe() {
    return "bind " + what + " to " + driver().driver();
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    DeviceFacts devices = snapshot.devices();
    Optional<PciDevice> there = devices.host().pci().device(device);
    BindDriver bind = BindDriver.toStub(device, driver());
    return there.isPresent()
        && there.get().driver().equals(bind.driver())
        && there.get().driverOverride().equals(bind.override())
        && holder().equals(devices.claims().get(device.toString()));
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return BindDriver.toStub(device, driver()).before(context.host());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    HostAccess host = context.host();
    function.ifPresent(vf -> vf.checkPlace(host, device));
    new DeviceClaims(claims).claim(device.toString(), holder());
    BindDriver.toStub(device, driver()).apply(host);
    if (function.isPresent() && driver().hasGroups()) {
      GroupCheck.check(host.files(), device); // the group exists only since the function was made
    }
    return Map.of();
  }

  /** A device without the claim was not changed, or belongs to another guest by now. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    DeviceClaims all = new DeviceClaims(claims);
    if (holder().equals(all.all().get(device.toString())) && !before.isEmpty()) {
      BindDriver.toStub(device, driver()).undo(context.host(), before);
    }
    all.release(device.toString(), holder());
  }

  private StubDriver driver() {
    return stub.orElse(StubDriver.VFIO);
  }
}
