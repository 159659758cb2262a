package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.Spelling;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.VGpu;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Rules between the parts of a descriptor: names that must exist, be unique, or be claimed once.
 *
 * <p>Runs on descriptors that already have problems too, so any required part may be null.
 */
final class DescriptorRules {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;
  private final Map<Object, Position> claims = new HashMap<>();
  private final ServerRules servers;

  DescriptorRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
    this.servers = new ServerRules(positions, problems);
  }

  void check() {
    if (descriptor.libvirt() != null && descriptor.libvirt().isEsx()) {
      esx();
      return;
    }
    if (!descriptor.hosts().isEmpty()) {
      connection();
      new HostRules(descriptor, positions, problems).check();
      return;
    }
    new HostRules(descriptor, positions, problems).none();
    objects();
  }

  /** Checks what a single host has. */
  void objects() {
    unique(descriptor.gpus(), Gpu::name, "GPU");
    unique(descriptor.guests(), Guest::name, "guest");
    unique(descriptor.networks(), Network::name, "network");
    unique(descriptor.nodes(), Node::name, "node");
    unique(adapters(), Adapter::name, "adapter");
    descriptor.networks().forEach(this::network);
    descriptor.gpus().forEach(this::gpu);
    new FabricRules(positions, problems).check(adapters());
    GuestRules guests = new GuestRules(descriptor, positions, problems, claims);
    descriptor.guests().forEach(guests::check);
    new RemoteGuestRules(descriptor, positions, problems).check();
  }

  private List<Adapter> adapters() {
    return descriptor.fabric().map(Fabric::adapters).orElse(List.of());
  }

  /**
   * Refuses ESXi before anything else is said of the descriptor: libvirt's driver reaches the
   * host's API and none of its files and devices, and attaches no device (virDomainAttachDevice).
   */
  private void esx() {
    problems.add(
        positions.of(descriptor, "libvirt"),
        "Graft makes no guests on VMware ESXi: libvirt's esx driver attaches no devices, and nothing"
            + " of Graft's runs on the host",
        "leave out 'libvirt', and give guests of ESXi a GPU of another machine by 'existing: {ssh:"
            + " USER@HOST}'; a GPU of the ESXi host is passed through in vSphere by hand"
            + " (DirectPath I/O): docs/hypervisors.md");
  }

  /** Refuses the libvirt of another machine beside hosts, each of which has its own. */
  private void connection() {
    LibvirtUri libvirt = descriptor.libvirt();
    if (libvirt != null && !libvirt.isLocal()) {
      problems.add(
          positions.of(descriptor, "libvirt"),
          "the descriptor has hosts, and 'libvirt' names the libvirt of a machine",
          "write that URI as 'ssh' of its host: docs/deployments.md");
    }
  }

  private void network(Network network) {
    if (Nic.USER.equals(network.name()) || Nic.CLOSED.equals(network.name())) {
      problems.add(
          positions.of(network, "name"),
          "'"
              + network.name()
              + "' stands for "
              + (Nic.USER.equals(network.name())
                  ? "QEMU's user-mode network"
                  : "the network on which a guest reaches its vGPU's server alone"),
          "choose another name");
    }
  }

  private void gpu(Gpu gpu) {
    servers.check(gpu);
    if (VGpu.ANY.equals(gpu.name())) {
      problems.add(
          positions.of(gpu, "name"),
          "'any' stands for a GPU that plan chooses",
          "choose another name");
    }
    if (gpu.owner().name() != null) {
      boolean guest = gpu.owner().kind() == Owner.Kind.GUEST;
      Collection<String> known =
          guest ? names(descriptor.guests(), Guest::name) : names(descriptor.nodes(), Node::name);
      reference(
          positions.of(gpu, "owner"),
          guest ? "guest" : "node",
          gpu.owner().name(),
          known,
          problems);
    }
    if (gpu.memory().isPresent() && gpu.device().kind() != GpuDevice.Kind.SOFTWARE) {
      problems.add(
          positions.of(gpu, "memory"),
          "'memory' is for the software device; a real GPU has its own",
          "limit a guest with vgpu: {memory: ...}");
    }
    boolean cuda =
        gpu.device().kind() == GpuDevice.Kind.CUDA || gpu.device().kind() == GpuDevice.Kind.MIG;
    if (gpu.owner().kind() == Owner.Kind.GUEST && cuda) {
      problems.add(
          positions.of(gpu, "device"),
          "a GPU that a guest owns is passed through, and needs its PCI address",
          "graft inspect lists the addresses");
    }
    if (gpu.device().kind() == GpuDevice.Kind.PCI && gpu.owner().kind() != Owner.Kind.NODE) {
      Position before = claims.putIfAbsent(gpu.device().address(), positions.of(gpu, "device"));
      if (before != null) {
        problems.add(
            positions.of(gpu, "device"), gpu.device() + " is claimed already", "see " + before);
      }
    }
  }

  private <T> void unique(List<T> items, Function<T, Name> naming, String kind) {
    unique(items, naming, kind, positions, problems);
  }

  /** Reports the second of two items with one name. */
  static <T> void unique(
      List<T> items,
      Function<T, Name> naming,
      String kind,
      Positions positions,
      Problems problems) {
    Map<Name, T> seen = new HashMap<>();
    for (T item : items) {
      Name name = naming.apply(item);
      T before = name == null ? null : seen.putIfAbsent(name, item);
      if (before != null) {
        problems.add(
            positions.of(item, "name"),
            "there are two " + kind + "s named '" + name + "'",
            "the first is at " + positions.of(before, "name"));
      }
    }
  }

  static <T> Collection<String> names(List<T> items, Function<T, Name> naming) {
    Collection<String> names = new TreeSet<>();
    items.stream().map(naming).filter(Objects::nonNull).forEach(n -> names.add(n.text()));
    return names;
  }

  /** Reports a name that the descriptor does not define. */
  static void reference(
      Position at, String kind, Name wanted, Collection<String> known, Problems problems) {
    if (wanted != null && !known.contains(wanted.text())) {
      problems.add(
          at,
          "there is no " + kind + " named '" + wanted + "'",
          Spelling.hint(wanted.text(), known));
    }
  }
}
