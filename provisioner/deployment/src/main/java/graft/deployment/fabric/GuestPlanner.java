package graft.deployment.fabric;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.PciAddress;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.GuestVf;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.DeviceFacts.NvidiaVgpuFacts;
import graft.deployment.state.DeviceClaims.Holder;
import graft.deployment.step.device.AssignMediatedDevice;
import graft.deployment.step.device.AssignsDevice;
import graft.deployment.step.device.BindPciDevice;
import graft.deployment.step.device.MakeNvidiaVgpu;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.StubDriver;
import graft.sriov.host.PciDevice;
import graft.sriov.plan.PassthroughPlan;
import graft.sriov.plan.PassthroughPlanner;
import graft.sriov.plan.PassthroughRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Plans which devices of the host each guest gets. */
final class GuestPlanner {
  private final Descriptor descriptor;
  private final Positions positions;
  private final DeviceFacts facts;
  private final JournalState journal;
  private final Path claims;
  private final StubDriver stub;
  private final List<AdapterPlan> adapters;
  private final Problems problems;
  private final PassthroughPlanner passthrough;
  private final Map<Guest, List<AssignsDevice>> assignments = new LinkedHashMap<>();
  private final Map<Guest, List<PciDevice>> devices = new LinkedHashMap<>();
  private final Map<Guest, List<Optional<PortName>>> ports = new HashMap<>();
  private final Map<PciAddress, Position> asked = new HashMap<>();
  private final List<PassthroughRequest> requests = new ArrayList<>();
  private final Set<PciAddress> given = new HashSet<>();
  private final List<String> notes = new ArrayList<>();
  private final LentGpus lentGpus;
  private final LentFunctions lentFunctions;

  /**
   * A planner.
   *
   * @param claims the folder of all claims
   * @param uri the guests' libvirt
   * @param stub the hypervisor's driver
   * @param adapters the adapters without problems
   */
  GuestPlanner(
      DescriptorFile file,
      DeviceFacts facts,
      JournalState journal,
      Path claims,
      String uri,
      StubDriver stub,
      List<AdapterPlan> adapters,
      Problems problems) {
    this.descriptor = file.descriptor();
    this.positions = file.positions();
    this.facts = facts;
    this.journal = journal;
    this.claims = claims;
    this.stub = stub;
    this.adapters = adapters;
    this.problems = problems;
    this.passthrough = new PassthroughPlanner(facts.host(), stub);
    this.lentFunctions = new LentFunctions(facts, uri, claims, notes, problems);
    this.lentGpus = new LentGpus(descriptor, facts, claims, notes, problems);
  }

  void plan() {
    for (Guest guest : descriptor.guests()) {
      assignments.put(guest, new ArrayList<>());
      devices.put(guest, new ArrayList<>());
      ports.put(guest, new ArrayList<>());
    }
    // Functions that the descriptor names come first; the other requests get what is left.
    descriptor.gpus().forEach(this::owned);
    for (Guest guest : descriptor.guests()) {
      guest.passthrough().forEach(device -> passed(guest, device));
      guest.vfs().stream()
          .filter(vf -> vf.index().isPresent())
          .forEach(vf -> function(guest, vf, vf.index().get()));
    }
    for (Guest guest : descriptor.guests()) {
      anyFunctions(guest);
    }
    check();
  }

  /** The steps that assign devices of the host to a guest. */
  List<AssignsDevice> assign(Guest guest) {
    return assignments.get(guest);
  }

  /**
   * The PCI functions that a guest gets. For a function that does not exist yet it is the adapter's
   * physical function.
   */
  List<PciDevice> devices(Guest guest) {
    return devices.get(guest);
  }

  /** The ports of a guest's virtual functions; empty where one of them is not known. */
  List<PortName> ports(Guest guest) {
    List<PortName> known = ports.get(guest).stream().flatMap(Optional::stream).toList();
    return known.size() == ports.get(guest).size() ? known : List.of();
  }

  List<String> notes() {
    return notes;
  }

  private void owned(Gpu gpu) {
    if (gpu.owner().kind() != Owner.Kind.GUEST || gpu.device().kind() != GpuDevice.Kind.PCI) {
      return;
    }
    Guest guest = descriptor.guest(gpu.owner().name()).orElseThrow();
    Position at =
        guest.passthrough().stream()
            .filter(device -> device.gpu().equals(Optional.of(gpu.name())))
            .findFirst()
            .map(device -> positions.of(device, "gpu"))
            .orElse(positions.of(gpu, "device"));
    assign(guest, gpu.device().address(), "the GPU '" + gpu.name() + "', ", at);
  }

  private void passed(Guest guest, Passthrough device) {
    if (device.pci().isPresent() && device.type().isPresent()) {
      vgpu(guest, device);
    } else if (device.pci().isPresent()) {
      assign(guest, device.pci().get(), "", positions.of(device, "pci"));
    } else if (device.mdev().isPresent()) {
      mediated(guest, device, device.mdev().get());
    } else if (device.mig().isPresent()) {
      problems.add(
          positions.of(device, "mig"),
          "a MIG instance has no PCI function of its own, so it cannot be passed through",
          "serve it from the host (a GPU with device: "
              + device.mig().get()
              + " and a vgpu of it), or assign the guest a MIG-backed NVIDIA vGPU (mdev)");
    }
  }

  /**
   * A virtual function of a GPU. It stays bound to NVIDIA's driver, which passes it to the guest.
   */
  private void vgpu(Guest guest, Passthrough device) {
    PciAddress address = device.pci().get();
    int type = Integer.parseInt(device.type().get());
    Optional<String> holder =
        facts.host().ledger().holder(address).filter(one -> !one.equals(own(guest)));
    NvidiaVgpuFacts there = facts.nvidiaVgpus().get(address);
    if (there == null) {
      problems.add(
          positions.of(device, "pci"),
          address + " takes no NVIDIA vGPU type",
          "load NVIDIA's vGPU host driver and make the GPU's functions (sriov-manage -e)");
    } else if (holder.isPresent()) {
      problems.add(
          positions.of(device, "pci"),
          address + " belongs to " + holder.get(),
          "assign another function of the GPU to the guest");
    } else if (there.type() != type && !there.creatable().containsKey(type)) {
      problems.add(
          positions.of(device, "type"),
          address + " cannot be an NVIDIA vGPU of type " + type,
          there.creatable().isEmpty()
              ? "the GPU has no room for any"
              : "it can be one of " + there.creatable());
    }
    assignments
        .get(guest)
        .add(new MakeNvidiaVgpu(guest.name().text(), deployment(), address, type, claims));
    facts.host().pci().device(address).ifPresent(devices.get(guest)::add);
  }

  private void mediated(Guest guest, Passthrough device, String uuid) {
    Optional<AssignMediatedDevice.Share> share =
        device.of().map(of -> new AssignMediatedDevice.Share(of, device.type().orElseThrow()));
    Position at = positions.of(device, "mdev");
    Holder own = holder(guest);
    Holder holder = facts.claims().get(uuid);
    if (holder != null && !holder.equals(own)) {
      problems.add(at, uuid + " belongs to " + holder, "assign another one to the guest");
    }
    if (share.isEmpty() && !facts.mediated().contains(uuid)) {
      problems.add(
          at,
          "this host has no mediated device " + uuid,
          "to have it made, write of: GPU's address, type: one of its mdev_supported_types");
    }
    if (share.isPresent()) {
      Optional<PciDevice> of = facts.host().pci().device(share.get().device());
      if (of.isEmpty() || !of.get().mediatedTypes().contains(share.get().type())) {
        problems.add(
            positions.of(device, "type"),
            share.get().device() + " offers no mediated devices of type " + share.get().type(),
            of.map(PciDevice::mediatedTypes).filter(types -> !types.isEmpty()).isPresent()
                ? "it offers " + String.join(", ", of.get().mediatedTypes())
                : "it offers none; is the vGPU host driver loaded?");
      }
      of.ifPresent(devices.get(guest)::add);
    }
    assignments
        .get(guest)
        .add(new AssignMediatedDevice(guest.name().text(), deployment(), uuid, share, claims));
  }

  private void anyFunctions(Guest guest) {
    Map<AdapterPlan, List<Integer>> before = new HashMap<>();
    for (GuestVf vf : guest.vfs()) {
      Optional<AdapterPlan> adapter = adapter(vf);
      if (vf.index().isPresent() || adapter.isEmpty()) {
        continue;
      }
      List<Integer> known =
          before.computeIfAbsent(
              adapter.get(),
              plan ->
                  new ArrayList<>(
                      JournalKnowledge.functionsOf(
                          journal, guest.name().text(), plan.pf().address())));
      Optional<Integer> index = free(guest, adapter.get(), known);
      if (index.isPresent()) {
        function(guest, vf, index.get());
      } else {
        problems.add(
            positions.of(vf, "adapter"),
            "the adapter '"
                + vf.adapter()
                + "' has no free virtual function for the guest '"
                + guest.name()
                + "': all "
                + adapter.get().adapter().count()
                + " are assigned or in use",
            "raise 'vfs' of the adapter");
      }
    }
  }

  /** A function that the guest had before, else the first free one. */
  private Optional<Integer> free(Guest guest, AdapterPlan adapter, List<Integer> known) {
    while (!known.isEmpty()) {
      int index = known.remove(0);
      if (index < adapter.adapter().count() && !given.contains(adapter.function(index))) {
        return Optional.of(index);
      }
    }
    String own = own(guest);
    for (int index = 0; index < adapter.adapter().count(); index++) {
      PciAddress at = adapter.function(index);
      boolean foreign = facts.host().ledger().holder(at).filter(h -> !h.equals(own)).isPresent();
      boolean used = adapter.isMade() && facts.host().uses().containsKey(at);
      if (!given.contains(at) && !foreign && !used) {
        return Optional.of(index);
      }
    }
    return Optional.empty();
  }

  private Optional<AdapterPlan> adapter(GuestVf vf) {
    return adapters.stream().filter(plan -> plan.adapter().name().equals(vf.adapter())).findFirst();
  }

  private void function(Guest guest, GuestVf vf, int index) {
    Optional<AdapterPlan> adapter = adapter(vf);
    if (adapter.isEmpty()) {
      return; // reported with the adapter
    }
    AdapterPlan plan = adapter.get();
    PciAddress at = plan.function(index);
    Position position = positions.of(vf, "adapter");
    given.add(at);
    asked.put(at, position);
    ports.get(guest).add(plan.port(index));
    devices
        .get(guest)
        .add(facts.host().pci().device(at).filter(d -> plan.isMade()).orElse(plan.pf()));
    if (guest.root().isPresent()) {
      assignments.get(guest).add(lentFunctions.lend(holder(guest), plan, index, position));
      return;
    }
    if (plan.isMade()) {
      requests.add(new PassthroughRequest(at, own(guest)));
    } else if (stub.hasGroups() && !facts.host().pci().hasIommu()) {
      noIommu(position, at);
    }
    assignments
        .get(guest)
        .add(
            new BindPciDevice(
                guest.name().text(),
                deployment(),
                at,
                Optional.of(new BindPciDevice.Function(plan.pf().address(), index)),
                "virtual function " + index + " of '" + vf.adapter() + "', " + at + ",",
                claims,
                recorded()));
  }

  private void noIommu(Position position, PciAddress at) {
    problems.add(
        position,
        at + ": the host has no IOMMU in use, without which no guest can have a device of its own",
        "turn VT-d or AMD-Vi on in the BIOS and boot with intel_iommu=on iommu=pt (Intel) or"
            + " iommu=pt (AMD)");
  }

  /** Plans a device and the devices that are passed through with it. */
  private void assign(Guest guest, PciAddress address, String what, Position at) {
    if (guest.root().isPresent()) {
      Optional<PciDevice> device = facts.host().pci().device(address);
      Optional<PciDevice> adapter = device.filter(LentFunctions::isNetwork);
      assignments
          .get(guest)
          .add(
              adapter.isPresent()
                  ? lentFunctions.lend(holder(guest), adapter.get(), what, at)
                  : lentGpus.lend(holder(guest), address, what, at));
      device.ifPresent(devices.get(guest)::add);
      return;
    }
    requests.add(new PassthroughRequest(address, own(guest)));
    asked.put(address, at);
    for (PciDevice function : passthrough.functions(address)) {
      if (given.add(function.address())) {
        asked.putIfAbsent(function.address(), at);
        devices.get(guest).add(function);
        assignments
            .get(guest)
            .add(
                new BindPciDevice(
                    guest.name().text(),
                    deployment(),
                    function.address(),
                    Optional.empty(),
                    (function.address().equals(address) ? what : "") + function.address(),
                    claims,
                    recorded()));
      }
    }
  }

  private void check() {
    Optional<Position> first =
        assignments.values().stream()
            .flatMap(List::stream)
            .filter(BindPciDevice.class::isInstance)
            .map(step -> asked.get(((BindPciDevice) step).device()))
            .findFirst();
    if (first.isPresent() && !facts.stubs().contains(stub)) {
      problems.add(
          first.get(),
          stub.driver() + " is not loaded, so no device can be bound to it",
          "modprobe " + stub.module());
    }
    try {
      PassthroughPlan plan = passthrough.plan(requests);
      Set<PciAddress> own = new HashSet<>();
      plan.functions().stream()
          .filter(function -> !function.isVirtualFunction())
          .forEach(function -> own.add(function.address()));
      plan.notes().stream()
          .filter(note -> own.contains(note.device()))
          .forEach(note -> notes.add(note.toString()));
    } catch (RefusedException e) {
      for (Problem problem : e.problems()) {
        Position at = problem.device().map(asked::get).orElse(positions.of(descriptor));
        problems.add(at, problem.subject() + ": " + problem.what(), problem.next());
      }
    }
  }

  /** The stub driver for the step. Journals from before Xen name none: they mean vfio-pci. */
  private Optional<StubDriver> recorded() {
    return Optional.of(stub).filter(one -> one != StubDriver.VFIO);
  }

  /** The devices whose whole configuration space the guest may write, by the descriptor. */
  Set<String> permissive(Guest guest) {
    Set<String> addresses = new HashSet<>();
    for (Passthrough device : guest.passthrough()) {
      if (device.permissive()) {
        device
            .pci()
            .or(() -> device.gpu().flatMap(descriptor::gpu).map(gpu -> gpu.device().address()))
            .ifPresent(
                at ->
                    passthrough
                        .functions(at)
                        .forEach(function -> addresses.add(function.address().toString())));
      }
    }
    return addresses;
  }

  private Holder holder(Guest guest) {
    return new Holder(deployment(), guest.name().text());
  }

  private String own(Guest guest) {
    return holder(guest).toString();
  }

  private String deployment() {
    return descriptor.deploymentName().text();
  }
}
