package graft.provisioner.step.device;

import graft.provisioner.observe.DeviceFacts;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StepFailure;
import graft.sriov.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.host.SriovCapability;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.ConfigureVf;
import graft.sriov.operation.Undo;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.Optional;

/**
 * Gives a virtual function its GUIDs, policy, MAC, trust and rate. A driver that has it sees new
 * GUIDs and a new MAC only when it is bound again, so it lets go for that time.
 */
public record SetUpFunction(String adapter, PciAddress pf, int index, VfSettings settings)
    implements Step {
  /** The key of the result that holds in which boot of the host it was done. */
  public static final String BOOT = "boot";

  private static final String DRIVER = "driver";
  private static final String SETTINGS = "settings";
  private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";

  @Override
  public Lane lane() {
    return Lane.adapter(adapter);
  }

  @Override
  public String name() {
    return "vf-" + index;
  }

  @Override
  public String describe() {
    return "virtual function " + index + ": " + settings;
  }

  /** Where the driver does not tell, the journal does: its own record of this boot. */
  @Override
  public boolean isDone(Snapshot snapshot) {
    DeviceFacts devices = snapshot.devices();
    int there =
        devices
            .host()
            .pci()
            .device(pf)
            .flatMap(device -> device.sriov())
            .map(SriovCapability::numVfs)
            .orElse(0);
    return index < there && settings.notIn(devices.host().settingsOf(pf, index)).isEmpty();
  }

  /** The other functions do not mind. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    HostAccess host = context.host();
    return Map.of(
        SETTINGS, Recorded.write(configure().before(host)),
        DRIVER, Recorded.write(free(function(host)).before(host)));
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    HostAccess host = context.host();
    PciAddress vf = function(host);
    if (!configure().done(host)) {
      Optional<BindDriver> again = Optional.empty();
      Optional<String> driver = host.files().linkName(PciPaths.device(vf, "driver"));
      if (settings.hasAddress() && driver.isPresent()) {
        again = Optional.of(BindDriver.to(vf, driver.get()));
        BindDriver.toNothing(vf, Optional.empty()).apply(host);
      }
      configure().apply(host);
      again.ifPresent(bind -> bind.apply(host));
    }
    return Map.of(BOOT, host.files().read(BOOT_ID).orElse(""));
  }

  @Override
  public void undo(StepContext context) {
    HostAccess host = context.host();
    Optional<PciAddress> vf = find(host);
    Map<String, Object> before = context.beforeOf(id());
    if (vf.isEmpty() || before.isEmpty()) {
      return; // it went with its settings
    }
    Optional<String> driver = host.files().linkName(PciPaths.device(vf.get(), "driver"));
    if (settings.hasAddress() && driver.isPresent()) {
      BindDriver.toNothing(vf.get(), Optional.empty()).apply(host);
    }
    Recorded.read(before.get(SETTINGS)).ifPresent(b -> Undo.run(host, b));
    Recorded.read(before.get(DRIVER)).ifPresent(b -> Undo.run(host, b));
  }

  private ConfigureVf configure() {
    return new ConfigureVf(pf, index, settings, VfSettings.NONE);
  }

  private static BindDriver free(PciAddress vf) {
    return BindDriver.toNothing(vf, Optional.empty());
  }

  private Optional<PciAddress> find(HostAccess host) {
    return host.files()
        .linkName(PciPaths.device(pf, "virtfn" + index))
        .flatMap(PciAddress::tryParse);
  }

  private PciAddress function(HostAccess host) {
    return find(host)
        .orElseThrow(
            () ->
                new StepFailure(pf + " has no virtual function " + index + " now", "apply again"));
  }
}
