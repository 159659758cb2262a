package graft.provisioner.fabric;

import graft.provisioner.descriptor.Adapter;
import graft.provisioner.step.Step;
import graft.provisioner.step.device.KeepDriversAway;
import graft.provisioner.step.device.MakeFunctions;
import graft.provisioner.step.device.SetUpFunction;
import graft.sriov.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.SriovCapability;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/**
 * What an adapter of the descriptor is on this host.
 *
 * @param pf its physical function
 * @param settings of its virtual functions, by index
 */
record AdapterPlan(Adapter adapter, PciDevice pf, SortedMap<Integer, VfSettings> settings) {

  /** None for an adapter whose virtual functions are left as they are, or that can have none. */
  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    String name = adapter.name().text();
    PciAddress at = pf.address();
    if (adapter.count() > 0) {
      steps.add(new KeepDriversAway(name, at));
    }
    if (adapter.vfs().isPresent() && pf.sriov().isPresent()) {
      steps.add(new MakeFunctions(name, at, adapter.count()));
      settings.forEach(
          (index, wanted) -> {
            if (!wanted.isEmpty()) {
              steps.add(new SetUpFunction(name, at, index, wanted));
            }
          });
    }
    return steps;
  }

  /** Whether its virtual functions are there already and stay. */
  boolean isMade() {
    return capability().numVfs() == adapter.count();
  }

  /** Where a virtual function is or will be. */
  PciAddress function(int index) {
    SriovCapability capability = capability();
    return isMade()
        ? capability.vfAddress(pf.address(), index)
        : pf.address().plus(capability.offset() + capability.stride() * index);
  }

  private SriovCapability capability() {
    return pf.sriov().orElseThrow();
  }
}
