package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.sriov.operation.DeviceChange;
import graft.sriov.plan.Mlx4Options;

/**
 * Sets the options of mlx4's module. They take effect when the module is loaded next, and so does
 * their undo.
 *
 * @param pf one of the adapters that they are for
 */
public record SetModuleOptions(PciAddress pf, Mlx4Options options) implements DeviceStep {
  /** Its {@link #id}. */
  public static final String ID = "module/" + Mlx4Options.MODULE + "/options";

  @Override
  public Chain chain() {
    return Chain.module(Mlx4Options.MODULE);
  }

  @Override
  public String name() {
    return "options";
  }

  @Override
  public String describe() {
    return "set its options: " + options.line() + " (" + Mlx4Options.PATH + ")";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return options.line().equals(snapshot.devices().host().mlx4Options().get(Mlx4Options.PATH));
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public DeviceChange change() {
    return options.operation(pf);
  }
}
