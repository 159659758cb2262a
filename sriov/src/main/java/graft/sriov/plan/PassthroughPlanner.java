package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.StubDriver;
import graft.sriov.host.NvidiaGpu;
import graft.sriov.host.PciDevice;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.DeviceChange;
import graft.sriov.plan.PassthroughPlan.Note;
import graft.sriov.plan.PassthroughRequest.Bridges;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans devices for guests: all functions of a GPU's slot, whole IOMMU groups if the kernel has
 * groups, and the hypervisor's stub driver.
 */
public final class PassthroughPlanner {
  /**
   * The drivers, besides vfio-pci, under which a member of a group does no harm, because they do no
   * DMA of their own (Linux, {@code driver_managed_dma} of pci-stub and pcieport).
   */
  static final Set<String> HARMLESS = Set.of("vfio-pci", "pci-stub", "pcieport");

  private final HostState host;
  private final StubDriver stub;

  /** Creates a planner for guests of KVM. */
  public PassthroughPlanner(HostState host) {
    this(host, StubDriver.VFIO);
  }

  /**
   * Creates a planner.
   *
   * @param stub the hypervisor's stub driver
   */
  public PassthroughPlanner(HostState host, StubDriver stub) {
    this.host = host;
    this.stub = stub;
  }

  /**
   * Plans requests together, because several of them may give the devices of one group to one
   * guest.
   *
   * @throws RefusedException with every problem of every request
   */
  public PassthroughPlan plan(List<PassthroughRequest> requests) {
    List<Problem> problems = new ArrayList<>();
    SortedMap<PciAddress, PassthroughRequest> wanted = new TreeMap<>();
    Ledger ledger = host.ledger();
    for (PassthroughRequest request : requests) {
      for (PciDevice function : functions(request, problems)) {
        wanted.put(function.address(), request);
        Optional<Problem> conflict = ledger.conflict(function.address(), request.guest());
        if (conflict.isPresent()) {
          problems.add(conflict.get());
        } else {
          ledger = ledger.claim(function.address(), request.guest());
        }
      }
    }
    wanted.forEach((address, request) -> check(device(address), request, problems));
    if (stub.hasGroups()) {
      checkGroups(wanted, ledger, problems);
    }
    RefusedException.throwIfAny(problems);

    List<DeviceChange> operations = new ArrayList<>();
    List<Note> notes = new ArrayList<>();
    for (PciAddress address : wanted.keySet()) {
      PciDevice device = device(address);
      BindDriver bind = BindDriver.toStub(address, stub);
      if (!device.driver().equals(bind.driver())
          || !device.driverOverride().equals(bind.override())) {
        operations.add(bind);
      }
      notes.addAll(notes(device));
    }
    return new PassthroughPlan(
        wanted.keySet().stream().map(this::device).toList(), operations, ledger, notes);
  }

  /**
   * The functions that a guest gets with a device: for a GPU all functions of its slot; none if the
   * device does not exist.
   */
  public List<PciDevice> functions(PciAddress device) {
    return functions(new PassthroughRequest(device, ""), new ArrayList<>());
  }

  private PciDevice device(PciAddress address) {
    return host.pci().device(address).orElseThrow();
  }

  /**
   * A GPU is passed through with its sound, USB and UCSI functions. A VF, or any other device, is
   * passed through alone.
   */
  private List<PciDevice> functions(PassthroughRequest request, List<Problem> problems) {
    Optional<PciDevice> device = host.pci().device(request.device());
    if (device.isEmpty()) {
      problems.add(
          new Problem(
              request.device(),
              "there is no such device",
              "Look at lspci -D; a VF is there only after its PF has been told to make it"));
      return List.of();
    }
    List<PciDevice> slot =
        host.pci().slot(request.device()).stream()
            .filter(function -> !function.isVirtualFunction())
            .toList();
    boolean gpu = slot.stream().anyMatch(PciDevice::isDisplay);
    return gpu && !device.get().isVirtualFunction() ? slot : List.of(device.get());
  }

  private void check(PciDevice device, PassthroughRequest request, List<Problem> problems) {
    PciAddress subject = device.address();
    if (device.bootVga()) {
      problems.add(
          new Problem(
              subject,
              "it drives the host's display (boot_vga)",
              "Choose another GPU, or make another adapter the primary display in the BIOS"));
    }
    if (device.isPciBridge()) {
      problems.add(
          new Problem(subject, "it is a bridge", "Name the device below it that the guest needs"));
    }
    if (device.sriov().isPresent() && device.sriov().get().numVfs() > 0) {
      problems.add(
          new Problem(
              subject,
              "it is a physical function with "
                  + device.sriov().get().numVfs()
                  + " VFs, which would vanish",
              "Pass a VF through, or take the VFs away first"));
    }
    List<String> uses = host.uses().getOrDefault(device.address(), List.of());
    // A device that is bound to vfio-pci and open is in use by the guest that the ledger already
    // names.
    boolean withItsGuest =
        device.boundForPassthrough()
            && host.ledger().holder(device.address()).equals(Optional.of(request.guest()));
    if (!uses.isEmpty() && !withItsGuest) {
      problems.add(
          new Problem(
              subject,
              "it is in use: " + String.join(", ", uses),
              uses.stream().anyMatch(use -> use.contains("nvidia-persiste"))
                  ? "Stop the persistence daemon: systemctl stop nvidia-persistenced"
                  : "Stop what uses it first"));
    }
    if (stub.hasGroups() && device.iommuGroup().isEmpty()) {
      problems.add(IommuProblem.missing(device.address()));
    }
  }

  /** A group goes to one guest as a whole (Linux, Documentation/driver-api/vfio.rst). */
  private void checkGroups(
      SortedMap<PciAddress, PassthroughRequest> wanted, Ledger ledger, List<Problem> problems) {
    Set<IommuGroup> seen = new TreeSet<>();
    wanted.forEach(
        (address, request) -> {
          Optional<IommuGroup> group = device(address).iommuGroup();
          if (group.isPresent() && seen.add(group.get())) {
            checkGroup(address, request, group.get(), wanted.keySet(), ledger, problems);
          }
        });
  }

  private void checkGroup(
      PciAddress address,
      PassthroughRequest request,
      IommuGroup group,
      Set<PciAddress> wanted,
      Ledger ledger,
      List<Problem> problems) {
    List<PciDevice> members = host.pci().members(group);
    for (PciDevice member : members) {
      Optional<String> holder = ledger.holder(member.address());
      boolean itself = member.address().equals(address); // the ledger reports this device
      if (!itself && holder.isPresent() && !holder.get().equals(request.guest())) {
        problems.add(
            new Problem(
                address,
                "it shares IOMMU group "
                    + group
                    + " with "
                    + member.label()
                    + ", which "
                    + holder.get()
                    + " has",
                "Give both to one guest"));
      } else if (member.isPciBridge()) {
        if (request.bridges() == Bridges.REFUSE) {
          problems.add(bridge(address, group, member, members));
        }
      } else if (!wanted.contains(member.address())
          && member.driver().isPresent()
          && !HARMLESS.contains(member.driver().get())) {
        problems.add(
            new Problem(
                address,
                "IOMMU group "
                    + group
                    + " is not viable: it also holds "
                    + member.label()
                    + ", which the host uses",
                "Give "
                    + member.address()
                    + " to "
                    + request.guest()
                    + " too, unbind it, or move the card to a slot with a group of its own"));
      }
    }
  }

  private static Problem bridge(
      PciAddress address, IommuGroup group, PciDevice bridge, List<PciDevice> members) {
    return new Problem(
        address,
        "its IOMMU group "
            + group
            + " also holds the bridge "
            + bridge.label()
            + " (members: "
            + members.stream().map(PciDevice::address).toList()
            + "), so nothing keeps the devices below it apart",
        "Turn ACS on in the BIOS or take a slot below another port; or accept the bridge, which"
            + " vfio leaves alone, when all devices below it go to the same guest");
  }

  private List<Note> notes(PciDevice device) {
    List<String> notes = new ArrayList<>();
    notes.add(
        device.resetMethods().isEmpty()
            ? "the kernel knows no way to reset it; a guest may find it as the last left it"
            : "reset by " + String.join(", then ", device.resetMethods()));
    for (NvidiaGpu gpu : host.pci().gpus()) {
      if (gpu.address().equals(device.address()) && !gpu.migInstances().isEmpty()) {
        notes.add(
            "it is divided into MIG instances "
                + gpu.migInstances()
                + ", which end with the host's driver");
      }
    }
    if (device.isNvidiaGpu() && host.pci().processes().mps()) {
      notes.add("CUDA MPS runs on this host and will not see it any more");
    }
    if (stub == StubDriver.PCIBACK && !device.isVirtualFunction()) {
      device
          .driver()
          .filter(driver -> !driver.equals(stub.driver()))
          .ifPresent(driver -> notes.add(hiding(device, driver)));
    }
    return notes.stream().map(text -> new Note(device.address(), text)).toList();
  }

  /**
   * Advice on how to keep dom0's driver, which may not release the device, from ever being bound to
   * it.
   */
  private static String hiding(PciDevice device, String driver) {
    return driver
        + " of dom0 has it after each boot; xen-pciback.hide=("
        + device.address()
        + ") on dom0's command line keeps it away (playbooks/host.yml: graft_xen_hide)";
  }
}
