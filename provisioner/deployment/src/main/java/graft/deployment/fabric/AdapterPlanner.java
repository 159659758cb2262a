package graft.deployment.fabric;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.Spelling;
import graft.common.values.PciAddress;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.fabric.VirtualFunction;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims.Holder;
import graft.deployment.step.device.SetModuleOptions;
import graft.sriov.Problem;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import graft.sriov.host.RdmaDevice;
import graft.sriov.host.RdmaPort;
import graft.sriov.plan.GuidScheme;
import graft.sriov.plan.HostState;
import graft.sriov.plan.Ledger;
import graft.sriov.plan.Mlx4Options;
import graft.sriov.plan.VfPlanner;
import graft.sriov.plan.VfRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;

/** Plans the virtual functions of a descriptor's adapters. */
final class AdapterPlanner {
  private final String deployment;
  private final Snapshot snapshot;
  private final DeviceFacts facts;
  private final Positions positions;
  private final Problems problems;
  private final List<VfRequest> requests = new ArrayList<>();

  AdapterPlanner(String deployment, Snapshot snapshot, Positions positions, Problems problems) {
    this.deployment = deployment;
    this.snapshot = snapshot;
    this.facts = snapshot.devices();
    this.positions = positions;
    this.problems = problems;
  }

  /**
   * The adapters that this host has as the descriptor names them. All others are reported as
   * problems.
   */
  List<AdapterPlan> plan(Fabric fabric) {
    Map<PciAddress, Adapter> adapters = new LinkedHashMap<>();
    for (Adapter adapter : fabric.adapters()) {
      Optional<PciDevice> pf = physicalFunction(adapter);
      if (pf.isPresent() && link(adapter, pf.get())) {
        Adapter before = adapters.putIfAbsent(pf.get().address(), adapter);
        if (before != null) {
          problems.add(
              positions.of(adapter, "device"),
              adapter.device() + " is " + pf.get().address() + ", as is '" + before.name() + "'");
        } else if (adapter.count() > 0
            || (adapter.vfs().isPresent() && pf.get().sriov().isPresent())) {
          requests.add(request(adapter, pf.get()));
        }
      }
    }
    VfPlanner planner = new VfPlanner(host());
    List<Problem> found = planner.problems(requests);
    found.forEach(problem -> report(problem, adapters));
    Map<PciAddress, VfRequest> byFunction = new HashMap<>();
    requests.forEach(request -> byFunction.put(request.pf(), request));
    List<AdapterPlan> plans = new ArrayList<>();
    if (found.isEmpty()) {
      adapters.forEach(
          (address, adapter) -> {
            VfRequest request = byFunction.get(address);
            plans.add(
                new AdapterPlan(
                    adapter,
                    new PciFunction(
                        facts.host().pci().device(address).orElseThrow(),
                        facts.host().pci().rdmaOf(address)),
                    request == null ? new TreeMap<>() : planner.settings(request),
                    request == null ? List.of() : planner.changes(request)));
          });
    }
    return plans;
  }

  /** After planning: the options of mlx4's module, if it needs any or had some before. */
  Optional<SetModuleOptions> module(JournalState journal) {
    boolean set = journal.entry(SetModuleOptions.ID).isPresent();
    return new VfPlanner(host())
        .module(requests)
        .filter(options -> set || awaitsModule())
        .map(options -> new SetModuleOptions(requests.get(0).pf(), options));
  }

  /** After planning: whether mlx4's module has to be loaded again before anything else. */
  boolean awaitsModule() {
    return new VfPlanner(host()).awaitsModule(requests);
  }

  /**
   * Whether a claim forbids making the functions again. A guest of this deployment that is off does
   * not.
   */
  private HostState host() {
    Ledger ledger = facts.host().ledger();
    for (Map.Entry<String, Holder> claim : facts.claims().entrySet()) {
      Optional<PciDevice> device =
          PciAddress.tryParse(claim.getKey()).flatMap(facts.host().pci()::device);
      boolean runs =
          snapshot.libvirt().guest(claim.getValue().guest()).map(GuestFacts::running).orElse(false);
      if (claim.getValue().deployment().equals(deployment)
          && !runs
          && device.isPresent()
          && !device.get().boundForPassthrough()) {
        ledger = ledger.release(device.get().address());
      }
    }
    return facts.host().with(ledger);
  }

  private Optional<PciDevice> physicalFunction(Adapter adapter) {
    Position at = positions.of(adapter, "device");
    Optional<PciAddress> address = Optional.ofNullable(adapter.device().address());
    if (adapter.device().rdma() != null) {
      List<RdmaDevice> all = facts.host().pci().rdma();
      address =
          all.stream()
              .filter(rdma -> rdma.name().equals(adapter.device().rdma()))
              .map(RdmaDevice::address)
              .findFirst();
      if (address.isEmpty()) {
        TreeSet<String> names = new TreeSet<>();
        all.forEach(rdma -> names.add(rdma.name()));
        problems.add(
            at,
            "this host has no RDMA device named '" + adapter.device() + "'",
            names.isEmpty()
                ? "it has none at all; is the adapter's driver loaded?"
                : Spelling.hint(adapter.device().rdma(), names));
        return Optional.empty();
      }
    }
    Optional<PciDevice> pf = address.flatMap(facts.host().pci()::device);
    if (pf.isEmpty()) {
      problems.add(
          at,
          "this host has no PCI device " + adapter.device(),
          "lspci -D lists them; graft inspect prints the adapters");
    }
    return pf;
  }

  private boolean link(Adapter adapter, PciDevice pf) {
    if (pf.driver().equals(Optional.of(Mlx4Options.MODULE))) {
      return true; // the module of mlx4 has an option for the link layer
    }
    String wanted =
        switch (adapter.link()) {
          case AUTO -> "";
          case INFINIBAND -> "InfiniBand";
          case ETHERNET -> "Ethernet";
        };
    List<String> found =
        facts.host().pci().rdmaOf(pf.address()).stream()
            .flatMap(rdma -> rdma.ports().stream())
            .map(RdmaPort::linkLayer)
            .map(layer -> layer == RdmaPort.LinkLayer.INFINIBAND ? "InfiniBand" : "Ethernet")
            .distinct()
            .toList();
    if (!wanted.isEmpty() && !found.isEmpty() && !found.contains(wanted)) {
      problems.add(
          positions.of(adapter, "link"),
          "the port of " + adapter.device() + " speaks " + found.get(0) + ", not " + wanted,
          "change it with mlxconfig -d "
              + pf.address()
              + " set LINK_TYPE_P1="
              + (wanted.equals("InfiniBand") ? 1 : 2)
              + ", then reboot");
      return false;
    }
    return true;
  }

  private static VfRequest request(Adapter adapter, PciDevice pf) {
    Map<Integer, VfSettings> each = new HashMap<>();
    for (VirtualFunction vf : adapter.virtualFunctions()) {
      each.put(vf.index(), settings(vf));
    }
    VfRequest bare = VfRequest.of(pf.address(), adapter.count());
    VfRequest count =
        switch (adapter.link()) {
          case AUTO -> bare;
          case INFINIBAND -> bare.withLink(RdmaPort.LinkLayer.INFINIBAND);
          case ETHERNET -> bare.withLink(RdmaPort.LinkLayer.ETHERNET);
        };
    if (adapter.count() == 0) {
      return count;
    }
    GuidScheme guids = adapter.guidBase().map(GuidScheme::new).orElse(GuidScheme.DEFAULT);
    VfRequest request = count.withEach(each).withGuids(guids);
    return switch (adapter.policy()) {
      case AUTO -> request; // the driver's default: the state follows the physical port
      case UP -> request.withAll(VfSettings.NONE.withPolicy(VfPolicy.UP));
      case DOWN -> request.withAll(VfSettings.NONE.withPolicy(VfPolicy.DOWN));
    };
  }

  private static VfSettings settings(VirtualFunction vf) {
    Optional<VfPolicy> policy =
        vf.policy()
            .map(
                wanted ->
                    switch (wanted) {
                      case AUTO -> VfPolicy.FOLLOW;
                      case UP -> VfPolicy.UP;
                      case DOWN -> VfPolicy.DOWN;
                    });
    return new VfSettings(
        vf.nodeGuid(),
        vf.portGuid(),
        policy,
        vf.mac(),
        vf.trust(),
        vf.maxRate().map(rate -> new VfRate(0, rate)));
  }

  /** Reports a problem at the part of the descriptor that it is about. */
  private void report(Problem problem, Map<PciAddress, Adapter> adapters) {
    String text = problem.subject() + ": " + problem.what();
    Position at = position(problem, adapters);
    problems.add(at, text, problem.next());
  }

  private Position position(Problem problem, Map<PciAddress, Adapter> adapters) {
    Optional<PciAddress> pf = problem.device().map(this::physical);
    Adapter adapter = pf.map(adapters::get).orElse(null);
    if (adapter == null) {
      return positions.of(adapters.values().iterator().next());
    }
    for (VirtualFunction one : adapter.virtualFunctions()) {
      if (problem.vf().equals(OptionalInt.of(one.index()))) {
        return positions.of(one);
      }
    }
    return positions.of(adapter, "vfs");
  }

  /** The physical function of a virtual function; for any other device, the device itself. */
  private PciAddress physical(PciAddress address) {
    return facts.host().pci().device(address).flatMap(PciDevice::physicalFunction).orElse(address);
  }
}
