package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.host.SriovCapability;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.SetAutoprobe;
import graft.sriov.operation.SetUpVf;
import graft.sriov.operation.SetVfCount;
import graft.sriov.vf.VfInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Plans the VFs of PFs: the operations that lead from the host's state to the requested state. */
public final class VfPlanner {
  private final HostState host;

  public VfPlanner(HostState host) {
    this.host = host;
  }

  /**
   * Plans requests, at most one for each PF.
   *
   * @return the operations in order, none if the host is already in the requested state
   * @throws RefusedException with every problem of every request
   */
  public List<DeviceChange> plan(List<VfRequest> requests) {
    RefusedException.throwIfAny(problems(requests));
    List<DeviceChange> operations = new ArrayList<>();
    module(requests)
        .filter(options -> awaitsModule(requests))
        .map(options -> options.operation(requests.get(0).pf()))
        .ifPresent(operations::add);
    for (VfRequest request : requests) {
      if (!Mlx4Options.awaited(host, request)) {
        operations.addAll(missing(request));
      }
    }
    return operations;
  }

  /**
   * The options that mlx4's module needs for requests without problems; empty if no request
   * concerns mlx4.
   */
  public Optional<Mlx4Options> module(List<VfRequest> requests) {
    return requests.stream()
        .filter(request -> Mlx4Options.concern(host.pci().device(request.pf()).orElseThrow()))
        .findFirst()
        .map(request -> Mlx4Options.of(host, request));
  }

  /** Whether some of the requests cannot be carried out before mlx4's module is loaded again. */
  public boolean awaitsModule(List<VfRequest> requests) {
    return requests.stream().anyMatch(request -> Mlx4Options.awaited(host, request));
  }

  /** All problems of the requests; none if they can be carried out. */
  public List<Problem> problems(List<VfRequest> requests) {
    return new VfRequestCheck(host).problems(requests);
  }

  /** The settings of each VF of a request without problems, by index. */
  public SortedMap<Integer, VfSettings> settings(VfRequest request) {
    return wanted(host, request);
  }

  /**
   * All changes that create the VFs of a request without problems, in the only order that Graft
   * uses, including those that are already done. The first change turns autoprobe off, and
   * autoprobe stays off while the VFs exist: a driver that binds a VF before the VF has its GUIDs
   * would keep the wrong GUIDs, and a driver that binds a VF before the VF's guest starts would
   * have to be unbound.
   */
  public List<DeviceChange> changes(VfRequest request) {
    SriovCapability capability = capability(request.pf());
    List<DeviceChange> changes = new ArrayList<>();
    if (request.count() > 0) {
      changes.add(new SetAutoprobe(request.pf(), false));
    }
    changes.add(new SetVfCount(request.pf(), request.count()));
    wanted(host, request)
        .forEach(
            (index, settings) -> {
              if (!settings.isEmpty()) {
                changes.add(new SetUpVf(request.pf(), index, settings));
              }
            });
    new TreeMap<>(request.drivers())
        .forEach(
            (index, driver) ->
                changes.add(bind(capability.vfAddress(request.pf(), index), driver)));
    return changes;
  }

  /**
   * Whether the snapshot of the host shows the state that a change of {@link #changes} produces.
   */
  public boolean isDone(DeviceChange change) {
    Optional<SriovCapability> capability =
        host.pci().device(change.device()).flatMap(PciDevice::sriov);
    if (change instanceof SetAutoprobe autoprobe) {
      return capability.map(found -> found.autoprobe() == autoprobe.on()).orElse(false);
    }
    if (change instanceof SetVfCount vfs) {
      return capability.map(found -> found.numVfs() == vfs.count()).orElse(false);
    }
    if (change instanceof SetUpVf vf) {
      int there = capability.map(SriovCapability::numVfs).orElse(0);
      VfSettings present = host.settingsOf(vf.device(), vf.index());
      return vf.index() < there && vf.settings().notIn(present).isEmpty();
    }
    if (change instanceof BindDriver bind) {
      Optional<PciDevice> device = host.pci().device(bind.device());
      return device.isPresent()
          && device.get().driver().equals(bind.driver())
          && device.get().driverOverride().equals(bind.override());
    }
    throw new IllegalArgumentException("a snapshot does not show whether this is done: " + change);
  }

  /** New VFs have none of the settings and drivers of the present VFs. */
  private List<DeviceChange> missing(VfRequest request) {
    boolean anew = capability(request.pf()).numVfs() != request.count();
    return changes(request).stream()
        .filter(
            change ->
                !isDone(change)
                    || (anew && (change instanceof SetUpVf || change instanceof BindDriver)))
        .toList();
  }

  private SriovCapability capability(PciAddress pf) {
    return host.pci().device(pf).orElseThrow().sriov().orElseThrow();
  }

  private static BindDriver bind(PciAddress vf, String driver) {
    return driver.equals("vfio-pci") ? BindDriver.toVfio(vf) : BindDriver.to(vf, driver);
  }

  /**
   * The settings of each VF: those given for the VF, else those given for all VFs, else those made
   * by the scheme.
   */
  static SortedMap<Integer, VfSettings> wanted(HostState host, VfRequest request) {
    SortedMap<Integer, VfSettings> wanted = new TreeMap<>();
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    Optional<VfInterface> vfInterface = VfInterface.of(host.function(pf));
    Optional<Guid> pfGuid = nodeGuid(host, request.pf());
    for (int index = 0; index < request.count(); index++) {
      VfSettings settings = request.each().getOrDefault(index, VfSettings.NONE).or(request.all());
      if (request.guids().isPresent() && pfGuid.isPresent() && index < GuidScheme.INDICES) {
        Guid made = request.guids().get().of(pfGuid.get(), index);
        VfSettings guids = VfSettings.NONE.withGuids(made, made);
        settings = settings.or(vfInterface.map(found -> found.able(guids)).orElse(guids));
      }
      wanted.put(index, settings);
    }
    return wanted;
  }

  static Optional<Guid> nodeGuid(HostState host, PciAddress pf) {
    return host.pci().rdmaOf(pf).stream().map(RdmaDevice::nodeGuid).findFirst().flatMap(g -> g);
  }

  /** The indices in the request that are not below the number of VFs. */
  static List<Integer> outOfRange(VfRequest request) {
    SortedMap<Integer, Boolean> indices = new TreeMap<>();
    for (Map<Integer, ?> map : List.of(request.each(), request.drivers())) {
      map.keySet().forEach(index -> indices.put(index, true));
    }
    return indices.keySet().stream()
        .filter(index -> index < 0 || index >= request.count())
        .toList();
  }
}
