package graft.deployment.step.device;

import graft.deployment.step.Chain;
import graft.deployment.step.StepContext;
import graft.sriov.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetUpVf;
import java.util.Map;

/** Configures the GUIDs, policy, MAC, trust and rate of a virtual function. */
public record SetUpFunction(String adapter, PciAddress pf, int index, VfSettings settings)
    implements DeviceStep {
  /** The key of the result with the id of the boot in which it was done. */
  public static final String BOOT = "boot";

  private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";

  @Override
  public Chain chain() {
    return Chain.adapter(adapter);
  }

  @Override
  public String name() {
    return "vf-" + index;
  }

  @Override
  public String describe() {
    return "virtual function " + index + ": " + settings;
  }

  /** The other functions do not depend on it. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public DeviceChange change() {
    return new SetUpVf(pf, index, settings);
  }

  /**
   * Records the boot: where the driver does not report settings, the journal is evidence for this
   * boot.
   */
  @Override
  public Map<String, Object> apply(StepContext context) {
    change().apply(context.host());
    return Map.of(BOOT, context.host().files().read(BOOT_ID).orElse(""));
  }
}
