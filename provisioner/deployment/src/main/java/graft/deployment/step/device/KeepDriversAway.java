package graft.deployment.step.device;

import graft.deployment.step.Chain;
import graft.sriov.PciAddress;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetAutoprobe;

/**
 * Turns off driver autoprobe for an adapter's virtual functions while the deployment exists. A
 * driver that binds a function before its GUIDs are set, or before its guest starts, would keep it.
 */
public record KeepDriversAway(String adapter, PciAddress pf) implements DeviceStep {
  @Override
  public Chain chain() {
    return Chain.adapter(adapter);
  }

  @Override
  public String name() {
    return "autoprobe";
  }

  @Override
  public String describe() {
    return "keep the host's drivers from new virtual functions of " + pf;
  }

  /** Existing functions do not depend on it. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public DeviceChange change() {
    return new SetAutoprobe(pf, false);
  }
}
