package graft.deployment.fabric;

import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.device.AssignsDevice;
import graft.hypervisors.libvirt.capabilities.HostNuma;
import graft.sriov.StubDriver;
import graft.sriov.host.Bar;
import graft.sriov.host.NumaNode;
import graft.sriov.host.PciDevice;
import graft.sriov.plan.Mlx4Options;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Plans everything about the host's devices. The same input gives the same plan. */
public final class DevicePlanner {
  /** The 64-bit PCI window of OVMF by default (edk2, OvmfPkg: PcdPciMmio64Size). */
  private static final long WINDOW = 32L << 30;

  /** What fits below 4 GiB beside everything else that has to be there. */
  private static final long BELOW_4G = 1L << 30;

  private final DescriptorFile file;
  private final Snapshot snapshot;
  private final JournalState journal;
  private final StateFolder state;
  private final Optional<HostNuma> numa;
  private final StubDriver stub;

  /**
   * A planner.
   *
   * @param numa the NUMA nodes by the hypervisor, where this kernel does not see them
   * @param stub the hypervisor's driver for passthrough
   */
  public DevicePlanner(
      DescriptorFile file,
      Snapshot snapshot,
      JournalState journal,
      StateFolder state,
      Optional<HostNuma> numa,
      StubDriver stub) {
    this.numa = numa;
    this.stub = stub;
    this.file = file;
    this.snapshot = snapshot;
    this.journal = journal;
    this.state = state;
  }

  /** Makes the plan; obstacles are added to {@code problems}. */
  public DevicePlan plan(Problems problems) {
    Descriptor descriptor = file.descriptor();
    DeviceFacts facts = snapshot.devices();
    if (!descriptor.usesDevices()) {
      return DevicePlan.NONE;
    }
    root(problems);
    AdapterPlanner fabric =
        new AdapterPlanner(
            descriptor.deploymentName().text(), snapshot, file.positions(), problems);
    List<AdapterPlan> adapters = descriptor.fabric().map(fabric::plan).orElse(List.of());
    List<Step> steps = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    if (problems.isEmpty()) {
      fabric.module(journal).ifPresent(steps::add);
      if (fabric.awaitsModule()) {
        warnings.add(
            "the rest can only be planned once mlx4_core has been loaded again: "
                + Mlx4Options.RELOAD
                + "; then run graft apply again");
        boot(steps, warnings);
        return new DevicePlan(steps, Map.of(), Map.of(), List.of(), warnings, true);
      }
    }
    GuestPlanner guests =
        new GuestPlanner(
            file,
            facts,
            journal,
            DeviceClaims.folder(state.path().getParent()),
            snapshot.libvirt().uri(),
            stub,
            adapters,
            problems);
    guests.plan();
    List<String> notes = new ArrayList<>();
    Map<Name, GuestDevices> byName = guests(guests, notes, problems);
    notes.addAll(guests.notes());
    HugePagePlanner pages = new HugePagePlanner(facts.nodes(), file.positions(), problems);
    descriptor.guests().forEach(guest -> pages.add(guest, byName.get(guest.name()).place()));
    steps.addAll(pages.steps(journal));
    adapters.forEach(adapter -> steps.addAll(adapter.steps()));
    warnings.addAll(largeUnderBios(guests));
    boot(steps, warnings);
    Map<Name, List<PortName>> ports = new LinkedHashMap<>();
    adapters.forEach(adapter -> ports.put(adapter.adapter().name(), adapter.ports()));
    return new DevicePlan(steps, byName, ports, notes, warnings, false);
  }

  private static List<NumaNode> nodes(HostNuma numa) {
    return numa.nodes().stream()
        .map(
            node -> new NumaNode(node.number(), node.cpus(), node.memory(), node.free(), List.of()))
        .toList();
  }

  /** The NUMA node of a device, if it is known. */
  private Optional<Integer> node(PciDevice device) {
    return numa.isPresent()
        ? Optional.ofNullable(numa.get().devices().get(device.address().toString()))
        : device.numaNode().stream().boxed().findFirst().filter(node -> node >= 0);
  }

  private void root(Problems problems) {
    Descriptor descriptor = file.descriptor();
    boolean changes =
        descriptor.guests().stream().anyMatch(guest -> !guest.passthrough().isEmpty())
            || descriptor.guests().stream().anyMatch(guest -> !guest.vfs().isEmpty())
            || descriptor.fabric().stream()
                .flatMap(fabric -> fabric.adapters().stream())
                .map(Adapter::vfs)
                .anyMatch(Optional::isPresent);
    if (changes && !snapshot.host().root()) {
      problems.add(
          file.positions().of(descriptor), "only root can change the host's devices", "be root");
    }
  }

  private Map<Name, GuestDevices> guests(
      GuestPlanner planned, List<String> notes, Problems problems) {
    List<NumaNode> nodes = numa.map(DevicePlanner::nodes).orElse(snapshot.devices().nodes());
    PlacePlanner places = new PlacePlanner(nodes, this::node, file.positions(), problems);
    Map<Name, GuestDevices> byName = new LinkedHashMap<>();
    for (Guest guest : file.descriptor().guests()) {
      boolean runs =
          snapshot.libvirt().guest(guest.name().text()).map(GuestFacts::running).orElse(false);
      List<PciDevice> devices = planned.devices(guest);
      // Graft does not move a guest that somebody else has placed.
      Place place =
          guest.existing().isPresent() ? Place.ANYWHERE : places.place(guest, devices, runs);
      if (!place.why().isEmpty()) {
        notes.add("guest " + guest.name() + ": " + place.why());
      }
      List<AssignsDevice> assign = planned.assign(guest);
      List<String> names =
          assign.stream().filter(AssignsDevice::isAttached).map(AssignsDevice::assigned).toList();
      byName.put(
          guest.name(),
          new GuestDevices(
              List.copyOf(assign),
              names,
              planned.ports(guest),
              planned.permissive(guest),
              place,
              window(guest, devices)));
    }
    return byName;
  }

  /**
   * The address space for the registers of all devices: twice their size, because each region is
   * aligned to its size.
   */
  private static Optional<MemorySize> window(Guest guest, List<PciDevice> devices) {
    if (guest.firmware() != Guest.Firmware.UEFI) {
      return Optional.empty();
    }
    long wide =
        devices.stream()
            .flatMap(device -> device.bars().stream())
            .filter(Bar::wide)
            .mapToLong(bar -> bar.size().bytes())
            .sum();
    return 2 * wide <= WINDOW
        ? Optional.empty()
        : Optional.of(new MemorySize(Long.highestOneBit(2 * wide - 1) << 1));
  }

  /**
   * Warnings of devices that a guest's BIOS may not be able to place: what does not fit below 4 GiB
   * has to go above, where SeaBIOS often has no room for it.
   */
  private List<String> largeUnderBios(GuestPlanner planned) {
    List<String> warnings = new ArrayList<>();
    for (Guest guest : file.descriptor().guests()) {
      for (PciDevice device : planned.devices(guest)) {
        Optional<Bar> large =
            device.bars().stream().filter(bar -> bar.size().bytes() > BELOW_4G).findFirst();
        boolean isBios =
            guest.firmware() == Guest.Firmware.BIOS
                && guest.existing().isEmpty()
                && guest.root().isEmpty();
        if (isBios && stub == StubDriver.VFIO && large.isPresent()) {
          warnings.add(
              "guest "
                  + guest.name()
                  + ": "
                  + device.address()
                  + " maps "
                  + large.get().size()
                  + " at once, for which a BIOS often has no room, so that the guest's driver finds"
                  + " a device without memory: write firmware: uefi");
        }
      }
    }
    return warnings;
  }

  private void boot(List<Step> steps, List<String> warnings) {
    boolean settings =
        !steps.isEmpty() && file.descriptor().fabric().filter(Fabric::persistent).isPresent();
    boolean wanted = file.descriptor().autostart();
    if (!snapshot.host().root()) {
      if (wanted) {
        warnings.add(BootUnit.NOT_ROOT);
      }
      return;
    }
    if (!settings && !wanted) {
      return;
    }
    if (!snapshot.devices().boot().systemd()) {
      warnings.add(wanted ? BootUnit.NO_SYSTEMD : BootUnit.SETTINGS_LOST);
      return;
    }
    BootUnit.step(file, state, stub)
        .ifPresentOrElse(steps::add, () -> warnings.add(BootUnit.NO_PROGRAM));
  }
}
