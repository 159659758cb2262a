package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.step.Await;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.LentAdapter;
import graft.sriov.host.PciDevice;
import graft.sriov.operation.BindDriver;
import graft.sriov.vf.HostAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Claims a function of a network adapter for a container, and binds it to the host's driver, whose
 * network interface another step moves into the container. Its undo binds the driver anew, so that
 * nothing is left of what the container has set: the interface is made again on the host, with its
 * own name, wherever it was.
 *
 * @param setup the name of the deployment that the guest belongs to
 * @param function which virtual function it is; absent for a whole adapter
 * @param what the function's description in plans
 * @param driver the host's driver
 * @param claims the folder of all claims
 */
public record LendFunction(
    String uri,
    String guest,
    String setup,
    PciAddress device,
    Optional<BindPciDevice.Function> function,
    String what,
    String driver,
    Path claims)
    implements LendsDevice {
  private static final Await APPEARS = new Await(Duration.ofSeconds(10), Duration.ofMillis(50));

  @Override
  public String describe() {
    return "give it the network interface of " + what + " bound to " + driver;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    DeviceFacts devices = snapshot.devices();
    Optional<PciDevice> there = devices.host().pci().device(device);
    boolean runs = snapshot.libvirt().guest(guest).filter(GuestFacts::running).isPresent();
    return there.flatMap(PciDevice::driver).equals(Optional.of(driver))
        && (runs || !there.get().interfaces().isEmpty())
        && holder().equals(devices.claims().get(device.toString()));
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    boolean bound =
        snapshot
            .devices()
            .host()
            .pci()
            .device(device)
            .flatMap(PciDevice::driver)
            .equals(Optional.of(driver));
    return bound ? "its network interface is not on the host" : "it has left its driver";
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return bind().before(context.host());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException, InterruptedException {
    HostAccess host = context.host();
    function.ifPresent(vf -> vf.checkPlace(host, device));
    new DeviceClaims(claims).claim(device.toString(), holder());
    bind().apply(host);
    if (!isHere(host) && runs(context)) {
      return Map.of(); // the container has it
    }
    if (!appears(device, this, context)) {
      BindDriver.toNothing(device, Optional.empty()).apply(host);
      bind().apply(host);
      if (!appears(device, this, context)) {
        throw new StepFailure(
            driver + " makes no network interface for " + device,
            "look at the kernel's log (dmesg); a container gets a function by its interface alone");
      }
    }
    return Map.of();
  }

  /**
   * Waits for a function's network interface. A driver may make it some time after it was bound,
   * and the kernel returns it some time after a container has ended.
   */
  static boolean appears(PciAddress device, Step step, StepContext context)
      throws InterruptedException {
    Sysfs files = context.host().files();
    return APPEARS.until(
            () ->
                LentAdapter.read(files, device).interfaces().isEmpty()
                    ? Await.Answer.NOT_YET
                    : Await.Answer.YES,
            seconds -> context.progress(step, "waiting for its interface, " + seconds + " s"),
            context::isStopping)
        == Await.Outcome.READY;
  }

  private boolean isHere(HostAccess host) {
    return !LentAdapter.read(host.files(), device).interfaces().isEmpty();
  }

  private boolean runs(StepContext context) {
    return context
        .libvirt(uri)
        .guest(guest)
        .filter(one -> one.metadata().filter(m -> m.deployment().equals(setup)).isPresent())
        .filter(one -> one.state().isActive())
        .isPresent();
  }

  /** A function without the claim was not changed, or belongs to another guest by now. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    DeviceClaims all = new DeviceClaims(claims);
    HostAccess host = context.host();
    boolean own = holder().equals(all.all().get(device.toString())) && !before.isEmpty();
    if (own && host.files().exists(PciPaths.device(device))) {
      boolean isBound =
          host.files().linkName(PciPaths.device(device, "driver")).equals(Optional.of(driver));
      if (isBound && !isHere(host) && runs(context)) {
        throw new StepFailure(
            "the container '" + guest + "' runs with the network interface of " + device,
            "graft stop " + setup + " " + guest + ", then try again");
      }
      if (isBound) {
        BindDriver.toNothing(device, Optional.empty()).apply(host);
      }
      bind().undo(host, before);
    }
    all.release(device.toString(), holder());
  }

  private BindDriver bind() {
    return BindDriver.to(device, driver);
  }
}
