package graft.provisioner.step.device;

import graft.provisioner.observe.Snapshot;
import graft.provisioner.step.Lane;
import graft.sriov.PciAddress;
import graft.sriov.operation.Operation;
import graft.sriov.operation.SetAutoprobe;

/**
 * Turns the kernel's search for drivers off for an adapter's virtual functions, while the set-up is
 * there: a driver that took one before it has its GUIDs, or before its guest starts, would keep it.
 */
public record KeepDriversAway(String adapter, PciAddress pf) implements OperationStep {
  @Override
  public Lane lane() {
    return Lane.adapter(adapter);
  }

  @Override
  public String name() {
    return "autoprobe";
  }

  @Override
  public String describe() {
    return "keep the host's drivers from new virtual functions of " + pf;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot
        .devices()
        .host()
        .pci()
        .device(pf)
        .flatMap(device -> device.sriov())
        .map(sriov -> !sriov.autoprobe())
        .orElse(false);
  }

  /** The functions that are there do not mind. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Operation operation() {
    return new SetAutoprobe(pf, false);
  }
}
