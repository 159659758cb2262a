package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.step.Chain;
import graft.deployment.step.StepContext;
import graft.sriov.VfSettings;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetUpVf;
import java.util.Map;

/** Gives a virtual function its GUIDs, policy, MAC, trust and rate. */
public record SetUpFunction(String adapter, PciAddress pf, int index, VfSettings settings)
    implements DeviceStep {
  /** The key of the result that holds in which boot of the host it was done. */
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

  /** The other functions do not mind. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public DeviceChange change() {
    return new SetUpVf(pf, index, settings);
  }

  /** Where the driver does not tell its settings, the journal of this boot does. */
  @Override
  public Map<String, Object> apply(StepContext context) {
    change().apply(context.host());
    return Map.of(BOOT, context.host().files().read(BOOT_ID).orElse(""));
  }
}
