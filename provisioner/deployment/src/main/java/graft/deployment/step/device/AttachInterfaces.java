package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.guest.Domains;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.sriov.files.Sysfs;
import graft.sriov.host.LentAdapter;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciDevice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Puts the network interfaces of adapters' functions, and the device nodes of their RDMA devices,
 * into a container's definition: they are known once the functions are bound to their driver. The
 * container has them from its next start on.
 *
 * @param devices the functions
 */
public record AttachInterfaces(String uri, String guest, String uuid, List<PciAddress> devices)
    implements GuestStep {
  public AttachInterfaces {
    devices = List.copyOf(devices);
  }

  @Override
  public String name() {
    return "attach-interfaces";
  }

  @Override
  public String describe() {
    return "let it start with the network interface"
        + (devices.size() == 1 ? " of " : "s of ")
        + devices.stream().map(PciAddress::toString).collect(Collectors.joining(", "))
        + " and its RDMA device nodes";
  }

  /** While the container runs, the host does not see the interfaces that it has. */
  @Override
  public boolean isDone(Snapshot snapshot) {
    Optional<GuestFacts> found = snapshot.libvirt().guest(guest, uuid);
    if (found.isEmpty()) {
      return false;
    }
    Set<String> here = new TreeSet<>();
    for (PciAddress device : devices) {
      snapshot
          .devices()
          .host()
          .pci()
          .device(device)
          .map(PciDevice::interfaces)
          .orElse(List.of())
          .forEach((NetInterface one) -> here.add(one.name()));
    }
    Set<String> attached = new TreeSet<>(found.get().attached());
    attached.removeIf(one -> one.contains("/") || one.contains(":"));
    return found.get().running() ? attached.size() >= devices.size() : attached.equals(here);
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return "the interfaces have other names now, or its definition was changed";
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    if (domain.state().isActive()) {
      throw new StepFailure(
          "the container '" + guest + "' runs, and takes network interfaces only when it starts",
          "stop it (graft stop), then apply again");
    }
    replace(domain, wanted(context));
    return Map.of();
  }

  private Set<HostdevSpec> wanted(StepContext context) throws InterruptedException {
    Sysfs files = context.host().files();
    Set<HostdevSpec> wanted = new LinkedHashSet<>();
    for (PciAddress device : devices) {
      if (!LendFunction.appears(device, this, context)) {
        throw new StepFailure(
            "the network interface of " + device + " is not on the host",
            "apply again, to plan with the present state");
      }
      LentAdapter adapter = LentAdapter.read(files, device);
      if (!adapter.rdma().isEmpty() && LentAdapter.rdmaIsExclusive(files)) {
        throw new StepFailure(
            "the RDMA device "
                + adapter.rdma()
                + " of "
                + device
                + " belongs to the host's network namespace alone (rdma system: netns exclusive)",
            "rdma system set netns shared");
      }
      if (!adapter.rdma().isEmpty() && adapter.nodes().isEmpty()) {
        throw new StepFailure(
            "the RDMA device " + adapter.rdma() + " of " + device + " has no device node",
            "modprobe ib_uverbs");
      }
      adapter.interfaces().forEach(name -> wanted.add(new HostdevSpec.Interface(name)));
      adapter.nodes().forEach(path -> wanted.add(new HostdevSpec.Node(path)));
    }
    return wanted;
  }

  /** Makes the definition have these of what this step writes, and no others. */
  private static void replace(Guest domain, Set<HostdevSpec> wanted) {
    List<HostdevSpec> present = new ArrayList<>(domain.definedHostDevices());
    present.removeIf(spec -> !isOfAdapter(spec));
    for (HostdevSpec spec : present) {
      if (!wanted.contains(spec)) {
        domain.detach(HostdevElement.create(spec), Set.of(DeviceScope.CONFIG));
      }
    }
    for (HostdevSpec spec : wanted) {
      if (!present.contains(spec)) {
        domain.attach(HostdevElement.create(spec), Set.of(DeviceScope.CONFIG));
      }
    }
  }

  private static boolean isOfAdapter(HostdevSpec spec) {
    return spec instanceof HostdevSpec.Interface
        || (spec instanceof HostdevSpec.Node node && node.path().startsWith(LentAdapter.NODES));
  }

  /** A container that runs keeps what it has until it stops. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Domains.find(context.libvirt(uri), guest, uuid).ifPresent(domain -> replace(domain, Set.of()));
  }
}
