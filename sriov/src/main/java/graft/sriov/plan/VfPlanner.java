package graft.sriov.plan;

import graft.sriov.Guid;
import graft.sriov.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.host.SriovCapability;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.ConfigureVf;
import graft.sriov.operation.Operation;
import graft.sriov.operation.SetAutoprobe;
import graft.sriov.operation.SetVfCount;
import graft.sriov.vf.VfWay;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Plans the VFs of PFs: which operations lead from what is there to what is asked for. */
public final class VfPlanner {
  private final HostState host;

  public VfPlanner(HostState host) {
    this.host = host;
  }

  /**
   * Plans requests, at most one for a PF.
   *
   * @return the operations in order, none when all is as asked for already
   * @throws RefusedException with every problem of every request
   */
  public List<Operation> plan(List<VfRequest> requests) {
    RefusedException.throwIfAny(problems(requests));
    List<Operation> operations = new ArrayList<>();
    module(requests)
        .filter(options -> awaitsModule(requests))
        .map(options -> options.operation(requests.get(0).pf()))
        .ifPresent(operations::add);
    for (VfRequest request : requests) {
      if (!Mlx4Options.awaited(host, request)) {
        operations.addAll(plan(request));
      }
    }
    return operations;
  }

  /** The options that mlx4's module needs for requests without problems; empty without mlx4. */
  public Optional<Mlx4Options> module(List<VfRequest> requests) {
    return requests.stream()
        .filter(request -> Mlx4Options.concern(host.pci().device(request.pf()).orElseThrow()))
        .findFirst()
        .map(request -> Mlx4Options.of(host, request));
  }

  /** Whether nothing can be done for some of the requests before that module is loaded again. */
  public boolean awaitsModule(List<VfRequest> requests) {
    return requests.stream().anyMatch(request -> Mlx4Options.awaited(host, request));
  }

  /** Everything that speaks against the requests; none when they can be carried out. */
  public List<Problem> problems(List<VfRequest> requests) {
    return new VfRequestCheck(host).problems(requests);
  }

  /** What each VF of a request without problems shall have, by index. */
  public SortedMap<Integer, VfSettings> settings(VfRequest request) {
    return wanted(host, request);
  }

  private List<Operation> plan(VfRequest request) {
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    SriovCapability capability = pf.sriov().orElseThrow();
    boolean anew = capability.numVfs() != request.count();
    SortedMap<Integer, VfSettings> wanted = wanted(host, request);
    List<Operation> operations = new ArrayList<>();
    boolean quiet = anew && request.count() > 0 && capability.autoprobe();
    if (quiet) {
      operations.add(new SetAutoprobe(request.pf(), false));
    }
    if (anew) {
      operations.add(new SetVfCount(request.pf(), request.count(), host.knownOf(request.pf())));
    }
    List<Operation> binds = new ArrayList<>();
    for (int index = 0; index < request.count(); index++) {
      VfSettings settings = wanted.getOrDefault(index, VfSettings.NONE);
      Optional<String> driver = Optional.ofNullable(request.drivers().get(index));
      PciAddress vf = capability.vfAddress(request.pf(), index);
      if (anew) {
        if (!settings.isEmpty()) {
          operations.add(new ConfigureVf(request.pf(), index, settings, VfSettings.NONE));
        }
        driver.ifPresent(name -> binds.add(bind(vf, name)));
      } else {
        change(request.pf(), index, vf, settings, driver, operations);
      }
    }
    if (quiet) {
      operations.add(new SetAutoprobe(request.pf(), true));
    }
    operations.addAll(binds);
    return operations;
  }

  /** A VF that stays: its driver lets go for as long as its GUIDs or its MAC change. */
  private void change(
      PciAddress pf,
      int index,
      PciAddress address,
      VfSettings wanted,
      Optional<String> driver,
      List<Operation> operations) {
    PciDevice vf = host.pci().device(address).orElseThrow();
    VfSettings missing = wanted.notIn(host.settingsOf(pf, index));
    Optional<String> present = vf.driver();
    boolean rebind = missing.hasAddress() && present.isPresent();
    if (rebind) {
      operations.add(BindDriver.toNothing(address, vf.driverOverride()));
    }
    if (!missing.isEmpty()) {
      VfSettings known = host.knownOf(pf).getOrDefault(index, VfSettings.NONE);
      operations.add(new ConfigureVf(pf, index, missing, known));
    }
    if (driver.isPresent()) {
      BindDriver bind = bind(address, driver.get());
      boolean asWanted =
          present.equals(bind.driver()) && vf.driverOverride().equals(bind.override());
      if (rebind || !asWanted) {
        operations.add(bind);
      }
    } else if (rebind) {
      operations.add(new BindDriver(address, present, vf.driverOverride()));
    }
  }

  private static BindDriver bind(PciAddress vf, String driver) {
    return driver.equals("vfio-pci") ? BindDriver.toVfio(vf) : BindDriver.to(vf, driver);
  }

  /** What each VF shall have: given for it, else given for all, else made by the scheme. */
  static SortedMap<Integer, VfSettings> wanted(HostState host, VfRequest request) {
    SortedMap<Integer, VfSettings> wanted = new TreeMap<>();
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    Optional<VfWay> way = VfWay.of(host.function(pf));
    Optional<Guid> pfGuid = nodeGuid(host, request.pf());
    for (int index = 0; index < request.count(); index++) {
      VfSettings settings = request.each().getOrDefault(index, VfSettings.NONE).or(request.all());
      if (request.guids().isPresent() && pfGuid.isPresent() && index < GuidScheme.INDICES) {
        Guid made = request.guids().get().of(pfGuid.get(), index);
        VfSettings guids = VfSettings.NONE.withGuids(made, made);
        settings = settings.or(way.map(found -> found.able(guids)).orElse(guids));
      }
      wanted.put(index, settings);
    }
    return wanted;
  }

  static Optional<Guid> nodeGuid(HostState host, PciAddress pf) {
    return host.pci().rdmaOf(pf).stream().map(RdmaDevice::nodeGuid).findFirst().flatMap(g -> g);
  }

  /** What is asked for by index that is beyond the count. */
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
