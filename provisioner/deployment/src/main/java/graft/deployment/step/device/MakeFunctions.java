package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.step.Chain;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetVfCount;

/** Sets the number of virtual functions of an adapter, unless one of them is in use. */
public record MakeFunctions(String adapter, PciAddress pf, int count) implements DeviceStep {
  @Override
  public Chain chain() {
    return Chain.adapter(adapter);
  }

  @Override
  public String name() {
    return "vfs";
  }

  @Override
  public String describe() {
    return switch (count) {
      case 0 -> "remove the virtual functions of " + pf;
      case 1 -> "make 1 virtual function of " + pf;
      default -> "make " + count + " virtual functions of " + pf;
    };
  }

  @Override
  public DeviceChange change() {
    return new SetVfCount(pf, count);
  }
}
