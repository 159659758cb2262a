package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.descriptor.hosts.Host;
import graft.guests.image.ImageName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Rules of a deployment over many hosts: what the hosts have to do with each other here, and the
 * rules of a single host for each of them.
 */
final class HostRules {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  HostRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  /** The names of the hosts that objects of a descriptor are on. */
  static Set<Name> named(Descriptor descriptor) {
    Set<Name> names = new HashSet<>();
    descriptor.gpus().forEach(gpu -> gpu.host().ifPresent(names::add));
    descriptor.guests().forEach(guest -> guest.host().ifPresent(names::add));
    descriptor.networks().forEach(network -> network.host().ifPresent(names::add));
    adapters(descriptor).forEach(adapter -> adapter.host().ifPresent(names::add));
    return names;
  }

  private static List<Adapter> adapters(Descriptor descriptor) {
    return descriptor.fabric().map(Fabric::adapters).orElse(List.of());
  }

  /** Refuses objects that name a host in a descriptor that has none. */
  void none() {
    descriptor.gpus().forEach(gpu -> noHost(gpu, gpu.host()));
    descriptor.guests().forEach(guest -> noHost(guest, guest.host()));
    descriptor.networks().forEach(network -> noHost(network, network.host()));
    adapters(descriptor).forEach(adapter -> noHost(adapter, adapter.host()));
  }

  private void noHost(Object object, Optional<Name> host) {
    if (host != null && host.isPresent()) {
      problems.add(
          positions.of(object, "host"),
          "the descriptor has no hosts, and this names one",
          "write 'hosts', or name an inventory of Ansible's: --inventory FILE");
    }
  }

  void check() {
    DescriptorRules.unique(descriptor.hosts(), Host::name, "host", positions, problems);
    DescriptorRules.unique(descriptor.gpus(), Gpu::name, "GPU", positions, problems);
    DescriptorRules.unique(descriptor.guests(), Guest::name, "guest", positions, problems);
    DescriptorRules.unique(descriptor.nodes(), Node::name, "node", positions, problems);
    addresses();
    new HostUriRules(descriptor, positions, problems).check();
    references();
    devices();
    nodes();
    if (!descriptor.remoteGuests().isEmpty()) {
      problems.add(
          positions.of(descriptor, "remote-guests"),
          "guests of other hosts are found by their 'host'",
          "leave 'remote-guests' out");
    }
    descriptor.guests().forEach(this::files);
    if (!problems.isEmpty()) {
      return; // the parts cannot be told apart
    }
    Map<Name, Gpu> gpus = new HashMap<>();
    descriptor.gpus().forEach(gpu -> gpus.put(gpu.name(), gpu));
    descriptor.guests().forEach(guest -> guest.vgpus().forEach(v -> elsewhere(guest, v, gpus)));
    if (problems.isEmpty()) {
      parts();
    }
  }

  private void parts() {
    HostSplit.TokenFiles files =
        new HostSplit.TokenFiles() {
          @Override
          public String of(Name guest, Name gpu) {
            return guest + "." + gpu;
          }

          @Override
          public String of(Node node) {
            return node.tokenFile();
          }
        };
    List<HostPart> parts = HostSplit.split(descriptor, positions, files);
    new HostCircle(descriptor, positions, problems).check(parts);
    for (HostPart part : parts) {
      new DescriptorRules(part.descriptor(), positions, problems).objects();
    }
  }

  private void addresses() {
    Map<String, Host> seen = new HashMap<>();
    for (Host host : descriptor.hosts()) {
      if (host.ssh() == null || host.name() == null) {
        continue;
      }
      Host before = seen.putIfAbsent(host.ssh().host() + " " + host.sshPort(), host);
      if (before != null) {
        problems.add(
            positions.of(host, "ssh"),
            "the host '" + before.name() + "' is the same machine",
            "write one host for each machine");
      }
    }
  }

  private void references() {
    Collection<String> known = DescriptorRules.names(descriptor.hosts(), Host::name);
    for (Gpu gpu : descriptor.gpus()) {
      if (gpu.owner() != null && gpu.owner().kind() == Owner.Kind.NODE) {
        if (gpu.host().isPresent()) {
          problems.add(
              positions.of(gpu, "host"),
              "the GPU '" + gpu.name() + "' is a node's, and on no host",
              "remove 'host', or 'owner' if the host owns the GPU");
        }
      } else {
        host(gpu, "GPU", gpu.name(), gpu.host(), known);
      }
    }
    descriptor.guests().forEach(guest -> host(guest, "guest", guest.name(), guest.host(), known));
    descriptor.networks().forEach(one -> host(one, "network", one.name(), one.host(), known));
    adapters(descriptor).forEach(one -> host(one, "adapter", one.name(), one.host(), known));
  }

  private void host(
      Object object, String kind, Name name, Optional<Name> host, Collection<String> known) {
    if (host == null || host.isEmpty()) {
      if (!positions.has(object, "host") && descriptor.hosts().size() > 1) {
        problems.add(
            positions.of(object),
            "the " + kind + " '" + name + "' names no host, and the descriptor has several",
            "write host: NAME");
      }
      return;
    }
    DescriptorRules.reference(positions.of(object, "host"), "host", host.get(), known, problems);
  }

  /** One device of a host is one GPU, but for the software device, which is not a device. */
  private void devices() {
    Map<String, Position> seen = new HashMap<>();
    for (Gpu gpu : descriptor.gpus()) {
      Optional<Name> host = on(gpu);
      if (gpu.device() == null
          || host.isEmpty()
          || gpu.device().kind() == GpuDevice.Kind.SOFTWARE) {
        continue;
      }
      Position at = positions.of(gpu, "device");
      Position first = seen.putIfAbsent(host.get() + " " + gpu.device(), at);
      if (first != null) {
        problems.add(
            at,
            "the host '" + host.get() + "' has the device " + gpu.device() + " already",
            "the first is at " + first + "; guests share a GPU by its name");
      }
    }
  }

  /** The host of a GPU; a single host has all GPUs that are no node's. */
  private Optional<Name> on(Gpu gpu) {
    boolean isNodes = gpu.owner() != null && gpu.owner().kind() == Owner.Kind.NODE;
    return descriptor.hosts().size() == 1 && !isNodes
        ? Optional.ofNullable(descriptor.hosts().get(0).name())
        : gpu.host();
  }

  /** A node serves one GPU at one address, and its name is not that of a GPU of a host. */
  private void nodes() {
    Set<Name> ofHosts = new HashSet<>();
    Map<Name, Position> seen = new HashMap<>();
    for (Gpu gpu : descriptor.gpus()) {
      if (gpu.owner() == null || gpu.owner().kind() != Owner.Kind.NODE) {
        ofHosts.add(gpu.name());
        continue;
      }
      Position at = positions.of(gpu, "owner");
      Position first = seen.putIfAbsent(gpu.owner().name(), at);
      if (first != null) {
        problems.add(
            at,
            "the node '" + gpu.owner().name() + "' has a GPU already",
            "the first is at " + first + "; a node is one server, and serves one GPU");
      }
    }
    for (Node node : descriptor.nodes()) {
      if (node.name() != null && ofHosts.contains(node.name())) {
        problems.add(
            positions.of(node, "name"),
            "a GPU of a host has the name '" + node.name() + "'",
            "give the node another name");
      }
    }
  }

  private void elsewhere(Guest guest, VGpu vgpu, Map<Name, Gpu> gpus) {
    Gpu gpu = gpus.get(vgpu.gpu());
    if (vgpu.tokenFile().isPresent()) {
      problems.add(
          positions.of(vgpu, "token-file"),
          "the tokens of a deployment over many hosts are made for it",
          "leave 'token-file' out");
    }
    if (gpu == null
        || gpu.host().isEmpty()
        || gpu.host().equals(guest.host())
        || descriptor.hosts().size() == 1) {
      return; // of its own host, a node's, or unknown, as the rules of its host say
    }
    if (gpu.owner().kind() != Owner.Kind.HOST) {
      problems.add(
          positions.of(vgpu),
          "the GPU '" + gpu.name() + "' of another host is owned by a guest there",
          "use a GPU that the host '" + gpu.host().get() + "' owns itself");
    }
    if (!Set.of(Channel.AUTO, Channel.TCP, Channel.RDMA).contains(vgpu.channel())) {
      problems.add(
          positions.of(vgpu, "channel"),
          "a guest of another host reaches the GPU '" + gpu.name() + "' over the network alone",
          "leave 'channel' out");
    }
  }

  /** Files that guests are made of lie on the guest's host, where no folder is the descriptor's. */
  private void files(Guest guest) {
    guest.image().ifPresent(file -> file(guest, "image", file));
    guest.root().ifPresent(file -> file(guest, "root", file));
    guest.kernel().ifPresent(kernel -> file(kernel, "image", kernel.image()));
    guest.kernel().flatMap(k -> k.initramfs()).ifPresent(f -> file(guest, "kernel", f));
    guest.disks().forEach(disk -> disk.source().ifPresent(f -> file(disk, "source", f)));
    guest.existing().flatMap(e -> e.key()).ifPresent(f -> file(guest, "existing", f));
    guest.existing().flatMap(e -> e.knownHosts()).ifPresent(f -> file(guest, "existing", f));
    if (guest.setup() != null) {
      guest.setup().files().forEach(one -> file(one, "source", one.source()));
      guest.setup().userData().ifPresent(file -> file(guest.setup(), "user-data", file));
      guest.setup().bundles().forEach(b -> b.files().ifPresent(f -> file(b, "files", f)));
      guest.setup().ssh().flatMap(s -> s.key()).ifPresent(f -> file(guest.setup(), "ssh", f));
    }
  }

  private void file(Object object, String key, String file) {
    if (file != null
        && !file.startsWith("/")
        && !file.startsWith("~/")
        && ImageName.of(file).isEmpty()) {
      problems.add(
          positions.of(object, key),
          "'" + file + "' is a file of the guest's host, where no folder belongs to the descriptor",
          "write its absolute path on the host");
    }
  }
}
