package graft.deployment.fabric;

import graft.common.values.PciAddress;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.step.Step;
import graft.deployment.step.device.KeepDriversAway;
import graft.deployment.step.device.MakeFunctions;
import graft.deployment.step.device.SetUpFunction;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import graft.sriov.host.RdmaPort.LinkLayer;
import graft.sriov.host.SriovCapability;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetAutoprobe;
import graft.sriov.operation.SetUpVf;
import graft.sriov.operation.SetVfCount;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * An adapter of the descriptor, as found on this host.
 *
 * @param function its physical function
 * @param settings of its virtual functions, by index
 * @param changes the changes that make them, in order
 */
record AdapterPlan(
    Adapter adapter,
    PciFunction function,
    SortedMap<Integer, VfSettings> settings,
    List<DeviceChange> changes) {

  PciDevice pf() {
    return function.device();
  }

  /**
   * The steps; none for an adapter whose virtual functions stay as they are, or that can have none.
   */
  List<Step> steps() {
    return changes.stream().map(this::step).toList();
  }

  private Step step(DeviceChange change) {
    String name = adapter.name().text();
    if (change instanceof SetAutoprobe autoprobe) {
      return new KeepDriversAway(name, autoprobe.device());
    }
    if (change instanceof SetVfCount vfs) {
      return new MakeFunctions(name, vfs.device(), vfs.count());
    }
    if (change instanceof SetUpVf vf) {
      return new SetUpFunction(name, vf.device(), vf.index(), vf.settings());
    }
    throw new IllegalArgumentException("an adapter has no step for " + change);
  }

  /** Whether its virtual functions exist already and stay. */
  boolean isMade() {
    return capability().numVfs() == adapter.count();
  }

  /** The address that a virtual function has or will have. */
  PciAddress function(int index) {
    SriovCapability capability = capability();
    return isMade()
        ? capability.vfAddress(pf().address(), index)
        : pf().address().plus(capability.offset() + capability.stride() * index);
  }

  /**
   * The identity of a virtual function's port for programs: its GUID, or its MAC on Ethernet. Empty
   * where the descriptor gives none and none is generated.
   */
  Optional<PortName> port(int index) {
    VfSettings own = settings.getOrDefault(index, VfSettings.NONE);
    boolean ethernet =
        function.rdma().stream()
            .flatMap(device -> device.ports().stream())
            .anyMatch(port -> port.linkLayer() == LinkLayer.ETHERNET);
    return ethernet ? own.mac().map(PortName::of) : own.portGuid().map(PortName::of);
  }

  /** The ports of the physical function, by name; none where its driver makes no RDMA device. */
  List<PortName> ports() {
    return function.rdma().stream()
        .flatMap(
            device ->
                device.ports().stream()
                    .map(port -> PortName.parse(device.name() + ":" + port.number())))
        .toList();
  }

  private SriovCapability capability() {
    return pf().sriov().orElseThrow();
  }
}
