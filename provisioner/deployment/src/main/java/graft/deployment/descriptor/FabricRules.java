package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.AdapterDevice;
import graft.deployment.descriptor.fabric.VirtualFunction;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Rules of adapters and their virtual functions. */
final class FabricRules {
  private final Positions positions;
  private final Problems problems;
  private final Map<Object, Position> addresses = new HashMap<>();

  FabricRules(Positions positions, Problems problems) {
    this.positions = positions;
    this.problems = problems;
  }

  void check(List<Adapter> adapters) {
    Map<AdapterDevice, Position> devices = new HashMap<>();
    for (Adapter adapter : adapters) {
      Position at = positions.of(adapter, "device");
      Position before = adapter.device() == null ? null : devices.putIfAbsent(adapter.device(), at);
      if (before != null) {
        problems.add(at, adapter.device() + " is configured already", "see " + before);
      }
      functions(adapter);
    }
  }

  private void functions(Adapter adapter) {
    Set<Integer> indexes = new HashSet<>();
    for (VirtualFunction vf : adapter.virtualFunctions()) {
      Position at = positions.of(vf, "index");
      if (!indexes.add(vf.index())) {
        problems.add(at, "virtual function " + vf.index() + " has settings already");
      }
      if (vf.index() >= adapter.count()) {
        problems.add(
            at,
            "there is no virtual function " + vf.index() + ": the adapter has " + adapter.count(),
            "raise 'vfs'");
      }
      // A port may have the same GUID as its node: single-port adapters are delivered so.
      unique("GUID", vf.nodeGuid(), positions.of(vf, "node-guid"));
      if (!vf.portGuid().equals(vf.nodeGuid())) {
        unique("GUID", vf.portGuid(), positions.of(vf, "port-guid"));
      }
      unique("MAC", vf.mac(), positions.of(vf, "mac"));
    }
  }

  private void unique(String what, Optional<?> address, Position at) {
    if (address.isPresent()) {
      Position before = addresses.putIfAbsent(address.get(), at);
      if (before != null) {
        problems.add(at, "the " + what + " " + address.get() + " is given twice", "see " + before);
      }
    }
  }
}
