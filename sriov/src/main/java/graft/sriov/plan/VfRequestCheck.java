package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.Problem;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.SriovCapability;
import graft.sriov.vf.VfInterface;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;

/** Finds all problems of requests for VFs. */
final class VfRequestCheck {
  private final HostState host;
  private final List<Problem> problems = new ArrayList<>();

  VfRequestCheck(HostState host) {
    this.host = host;
  }

  List<Problem> problems(List<VfRequest> requests) {
    Set<PciAddress> seen = new HashSet<>();
    List<VfRequest> sound = new ArrayList<>();
    for (VfRequest request : requests) {
      if (!seen.add(request.pf())) {
        add(request, "its VFs are asked for twice", "Say once how many VFs it shall have");
      } else if (capability(request)) {
        sound.add(request);
        range(request);
        if (!Mlx4Options.awaited(host, request)) {
          settings(request);
        }
        use(request);
        drivers(request);
      }
    }
    mlx4(sound);
    duplicates(sound);
    return problems;
  }

  private void add(VfRequest request, String what, String next) {
    problems.add(new Problem(request.pf(), what, next));
  }

  private void addOfVf(VfRequest request, int index, String what, String next) {
    problems.add(new Problem(request.pf(), what, next).ofVf(index));
  }

  private boolean capability(VfRequest request) {
    Optional<PciDevice> device = host.pci().device(request.pf());
    if (device.isEmpty()) {
      add(
          request,
          "there is no such device",
          "The physical functions here are "
              + host.pci().physicalFunctions().stream().map(PciDevice::address).toList());
      return false;
    }
    PciDevice pf = device.get();
    if (pf.isVirtualFunction()) {
      add(
          request,
          "it is a virtual function itself",
          "Name its physical function " + pf.physicalFunction().get());
      return false;
    }
    if (pf.sriov().isEmpty() || pf.sriov().get().totalVfs() == 0) {
      add(
          request,
          "its firmware offers no virtual functions",
          Firmware.advice(pf, Math.max(1, request.count()), infiniband(pf)));
      return false;
    }
    SriovCapability capability = pf.sriov().get();
    if (request.count() > capability.totalVfs()) {
      add(
          request,
          request.count() + " VFs asked for, but its firmware allows " + capability.totalVfs(),
          "Ask for at most "
              + capability.totalVfs()
              + ", or raise it: "
              + Firmware.advice(pf, request.count(), infiniband(pf)));
    }
    if (request.count() != capability.numVfs()
        && (pf.driver().isEmpty() || pf.boundForPassthrough())) {
      add(
          request,
          "it has " + pf.driver().orElse("no driver") + ", which cannot make VFs",
          "Bind it to its own driver first");
    }
    return true;
  }

  private boolean infiniband(PciDevice pf) {
    return VfInterface.of(host.function(pf))
        .map(vfInterface -> vfInterface.kind() != VfInterface.Kind.NETLINK_ETHERNET)
        .orElse(pf.pciClass() >> 8 == 0x0207);
  }

  private void range(VfRequest request) {
    for (int index : VfPlanner.outOfRange(request)) {
      addOfVf(
          request,
          index,
          "VF " + index + " is asked for, but there will be " + request.count() + " VFs",
          request.count() == 0
              ? "Ask for more VFs"
              : "Use an index from 0 to " + (request.count() - 1) + ", or ask for more VFs");
    }
  }

  /** mlx4 creates its VFs when its module is loaded, the same number for each adapter. */
  private void mlx4(List<VfRequest> requests) {
    List<VfRequest> concerned =
        requests.stream()
            .filter(request -> Mlx4Options.concern(host.pci().device(request.pf()).orElseThrow()))
            .toList();
    Optional<VfRequest> awaited =
        concerned.stream().filter(request -> Mlx4Options.awaited(host, request)).findFirst();
    if (awaited.isEmpty()) {
      return;
    }
    Mlx4Options options = Mlx4Options.of(host, awaited.get());
    for (VfRequest request : concerned) {
      Mlx4Options other = Mlx4Options.of(host, request);
      if (!other.equals(options)) {
        add(
            request,
            "the options of mlx4's module count for all its adapters: '"
                + other.line()
                + "' for this one and '"
                + options.line()
                + "' for "
                + awaited.get().pf(),
            "Ask for the same of both");
      }
    }
    host.mlx4Options()
        .forEach(
            (path, lines) -> {
              if (!path.equals(Mlx4Options.PATH)) {
                add(
                    awaited.get(),
                    path + " gives mlx4_core options too: '" + lines + "'",
                    "Remove the line, or ask for what it makes");
              }
            });
    if (options.line().equals(host.mlx4Options().get(Mlx4Options.PATH))) {
      add(
          awaited.get(),
          "its module was loaded before it had the options in " + Mlx4Options.PATH,
          "Load it again: " + Mlx4Options.RELOAD);
    }
  }

  private void settings(VfRequest request) {
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    Optional<VfInterface> vfInterface = VfInterface.of(host.function(pf));
    if (request.guids().isPresent()
        && VfPlanner.nodeGuid(host, request.pf()).isEmpty()
        && infiniband(pf)) {
      add(
          request,
          "GUIDs are to be made from its node GUID, but it shows none",
          "Load its RDMA driver (mlx5_ib), or give each VF its GUIDs");
    }
    SortedMap<Integer, VfSettings> wanted = VfPlanner.wanted(host, request);
    for (Map.Entry<Integer, VfSettings> entry : wanted.entrySet()) {
      VfSettings one = entry.getValue();
      if (one.isEmpty()) {
        continue;
      }
      if (vfInterface.isEmpty()) {
        add(
            request,
            "there is no way to set what belongs to its VFs: it has neither a network interface"
                + " nor the files of the out-of-tree driver",
            "Load ib_ipoib (modprobe ib_ipoib)");
        return;
      }
      VfSettings unable = vfInterface.get().unable(one);
      if (!unable.isEmpty()) {
        addOfVf(
            request,
            entry.getKey(),
            "VF " + entry.getKey() + ": " + vfInterface.get().name() + " cannot set " + unable,
            "GUIDs belong to InfiniBand ports; MAC, trust and rate to Ethernet ports");
        return;
      }
    }
  }

  /** VFs that are in use must not change. */
  private void use(VfRequest request) {
    PciDevice pf = host.pci().device(request.pf()).orElseThrow();
    SriovCapability capability = pf.sriov().orElseThrow();
    boolean anew = capability.numVfs() != request.count();
    SortedMap<Integer, VfSettings> wanted = VfPlanner.wanted(host, request);
    for (int index = 0; index < capability.vfs().size(); index++) {
      PciAddress vf = capability.vfs().get(index);
      Optional<String> use = use(vf);
      if (use.isEmpty()) {
        continue;
      }
      VfSettings missing =
          wanted.getOrDefault(index, VfSettings.NONE).notIn(host.settingsOf(request.pf(), index));
      if (anew) {
        problems.add(
            new Problem(
                vf,
                use.get()
                    + ", and "
                    + request.count()
                    + " VFs instead of "
                    + capability.numVfs()
                    + " would remove it",
                "Detach it first, or leave the number of VFs of " + request.pf()));
      } else if (missing.hasAddress()) {
        problems.add(
            new Problem(
                vf,
                use.get() + ", and " + missing + " takes effect only when its driver lets it go",
                "Detach it first, or ask for the settings that it has"));
      } else if (driverChanges(request, index, vf)) {
        problems.add(
            new Problem(
                vf,
                use.get() + ", and its driver is to change",
                "Detach it first, or leave its driver"));
      }
    }
  }

  private boolean driverChanges(VfRequest request, int index, PciAddress vf) {
    String wanted = request.drivers().get(index);
    return wanted != null
        && !host.pci().device(vf).orElseThrow().driver().equals(Optional.of(wanted));
  }

  private Optional<String> use(PciAddress vf) {
    PciDevice device = host.pci().device(vf).orElseThrow();
    return host.ledger()
        .holder(vf)
        .map(holder -> "it belongs to " + holder)
        .or(
            () ->
                Optional.ofNullable(host.uses().get(vf))
                    .map(uses -> "it is in use: " + String.join(", ", uses)))
        .or(
            () ->
                device.boundForPassthrough()
                    ? Optional.of("it is bound to " + device.driver().orElseThrow())
                    : Optional.empty());
  }

  private void drivers(VfRequest request) {
    if (request.drivers().containsValue("vfio-pci") && !host.pci().hasIommu()) {
      problems.add(IommuProblem.missing(request.pf()));
    }
  }

  /**
   * GUIDs must be unique on the host: among the requested ones, and different from those that stay.
   */
  private void duplicates(List<VfRequest> requests) {
    Map<Guid, String> nodes = new HashMap<>();
    Map<Guid, String> ports = new HashMap<>();
    Set<PciAddress> asked = new HashSet<>();
    requests.forEach(request -> asked.add(request.pf()));
    host.pci()
        .rdma()
        .forEach(
            rdma -> {
              Optional<PciAddress> pf =
                  host.pci().device(rdma.address()).flatMap(PciDevice::physicalFunction);
              // The RDMA device of a requested VF may show the very GUID that the VF is to have.
              if (pf.filter(asked::contains).isEmpty()) {
                rdma.nodeGuid().ifPresent(guid -> nodes.put(guid, rdma.name()));
              }
            });
    host.settings()
        .forEach(
            (pf, list) -> {
              for (int i = 0; i < list.size() && !asked.contains(pf); i++) {
                String name = "VF " + i + " of " + pf;
                list.get(i).nodeGuid().ifPresent(guid -> nodes.put(guid, name));
                list.get(i).portGuid().ifPresent(guid -> ports.put(guid, name));
              }
            });
    for (VfRequest request : requests) {
      VfPlanner.wanted(host, request)
          .forEach(
              (index, settings) -> {
                settings.nodeGuid().ifPresent(g -> unique("node", g, request, index, nodes));
                settings.portGuid().ifPresent(g -> unique("port", g, request, index, ports));
              });
    }
  }

  private void unique(
      String kind, Guid guid, VfRequest request, int index, Map<Guid, String> owners) {
    String name = "VF " + index + " of " + request.pf();
    String other = owners.putIfAbsent(guid, name);
    if (other != null) {
      problems.add(
          new Problem(
              name,
              Optional.of(request.pf()),
              OptionalInt.of(index),
              "its " + kind + " GUID " + guid + " is also that of " + other,
              "Give each its own, or have GUIDs made by leaving them out"));
    }
  }
}
