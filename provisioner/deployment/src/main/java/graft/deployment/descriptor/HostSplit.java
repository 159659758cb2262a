package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.values.Endpoint;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.RemoteGuest;
import graft.guests.connection.HostAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Splits a descriptor with {@code hosts} into one of each host. A vGPU of a GPU of another host
 * becomes that of a node on the guest's host, and a {@code remote-guests} entry on the GPU's host;
 * both name a file with the same token. The same descriptor gives the same parts.
 */
public final class HostSplit {
  private static final int FIRST_PORT = 7799;
  private static final int PORTS = 1000;

  /** Names the files with tokens, relative to the descriptor of the host. */
  public interface TokenFiles {
    /** The file with the token of a guest for a GPU of another host. */
    String of(Name guest, Name gpu);

    /** The file with the token for a node that is no host. */
    String of(Node node);
  }

  private final Descriptor whole;
  private final Positions positions;
  private final TokenFiles files;
  private final Map<Name, Host> hosts = new LinkedHashMap<>();
  private final Map<Name, Gpu> gpus = new HashMap<>();
  private final Map<Name, Node> nodes = new HashMap<>();

  /** The GPUs that guests of other hosts use, with those guests. */
  private final Map<Name, List<RemoteGuest>> lent = new TreeMap<>();

  private HostSplit(Descriptor whole, Positions positions, TokenFiles files) {
    this.whole = whole;
    this.positions = positions;
    this.files = files;
    whole.hosts().forEach(host -> hosts.put(host.name(), host));
    whole.nodes().forEach(node -> nodes.put(node.name(), node));
    whole.gpus().forEach(gpu -> gpus.put(gpu.name(), gpu));
  }

  /**
   * The parts, in the order in which they can be applied: a host whose GPUs others use comes before
   * these, and otherwise the order is the descriptor's.
   *
   * @param whole a descriptor whose objects all name hosts that it has
   * @param positions get the positions of the parts' objects too
   */
  public static List<HostPart> split(Descriptor whole, Positions positions, TokenFiles files) {
    return ordered(new HostSplit(whole, positions, files).parts());
  }

  private List<HostPart> parts() {
    for (Guest guest : whole.guests()) {
      for (VGpu vgpu : guest.vgpus()) {
        if (isElsewhere(guest, vgpu)) {
          lend(guest, vgpu);
        }
      }
    }
    givePorts();
    List<Gpu> ofHosts =
        whole.gpus().stream().filter(gpu -> gpu.owner().kind() != Owner.Kind.NODE).toList();
    Map<Name, List<Gpu>> itsGpus = byHost(ofHosts, Gpu::host);
    Map<Name, List<Guest>> itsGuests = byHost(whole.guests(), Guest::host);
    Map<Name, List<Network>> itsNetworks = byHost(whole.networks(), Network::host);
    Map<Name, List<Adapter>> adapters =
        byHost(whole.fabric().map(Fabric::adapters).orElse(List.of()), Adapter::host);
    List<HostPart> parts = new ArrayList<>();
    for (Host host : hosts.values()) {
      Name name = host.name();
      List<Adapter> its = adapters.getOrDefault(name, List.of());
      parts.add(
          part(
              host,
              itsGpus.getOrDefault(name, List.of()),
              its.isEmpty() ? Optional.empty() : Optional.of(fabric(its)),
              itsNetworks.getOrDefault(name, List.of()),
              itsGuests.getOrDefault(name, List.of())));
    }
    return parts;
  }

  private Fabric fabric(List<Adapter> adapters) {
    Fabric all = whole.fabric().orElseThrow();
    return derived(new Fabric(adapters, all.persistent()), all);
  }

  private boolean isElsewhere(Guest guest, VGpu vgpu) {
    Gpu gpu = gpus.get(vgpu.gpu());
    return hosts.size() > 1
        && gpu != null
        && gpu.host().isPresent()
        && !gpu.host().equals(guest.host());
  }

  private void lend(Guest guest, VGpu vgpu) {
    HostAddress address = hosts.get(gpus.get(vgpu.gpu()).host().orElseThrow()).served();
    String token = files.of(guest.name(), vgpu.gpu());
    RemoteGuest remote = derived(new RemoteGuest(guest.name(), address, token, vgpu), vgpu);
    lent.computeIfAbsent(vgpu.gpu(), gpu -> new ArrayList<>()).add(remote);
  }

  /**
   * The servers that guests of other hosts use have ports that these hosts know. A port is derived
   * from the names, so that further GPUs do not change those of the others.
   */
  private void givePorts() {
    Map<Name, Set<Integer>> taken = new HashMap<>();
    for (Gpu gpu : whole.gpus()) {
      if (gpu.host().isPresent() && gpu.server().port().isPresent()) {
        taken
            .computeIfAbsent(gpu.host().get(), host -> new HashSet<>())
            .add(gpu.server().port().get());
      }
    }
    for (Name name : lent.keySet()) {
      Gpu gpu = gpus.get(name);
      if (gpu.server().port().isEmpty()) {
        Set<Integer> its = taken.computeIfAbsent(gpu.host().orElseThrow(), host -> new HashSet<>());
        String text = whole.name().map(Name::text).orElse("") + "/" + name;
        int port = FIRST_PORT + Math.floorMod(text.hashCode(), PORTS);
        while (!its.add(port)) {
          port++;
        }
        gpus.put(name, derived(gpu.with(gpu.owner(), gpu.server().at(port)), gpu));
      }
    }
  }

  private HostPart part(
      Host host,
      List<Gpu> own,
      Optional<Fabric> fabric,
      List<Network> networks,
      List<Guest> guests) {
    List<Gpu> itsGpus = new ArrayList<>(own.stream().map(gpu -> gpus.get(gpu.name())).toList());
    Map<Name, Gpu> away = new LinkedHashMap<>();
    Map<Name, Node> itsNodes = new LinkedHashMap<>();
    Map<Name, Name> uses = new TreeMap<>();
    List<Guest> itsGuests = new ArrayList<>();
    for (Guest guest : guests) {
      List<VGpu> vgpus = new ArrayList<>();
      for (VGpu vgpu : guest.vgpus()) {
        Gpu gpu = gpus.get(vgpu.gpu());
        if (isElsewhere(guest, vgpu)) {
          String token = files.of(guest.name(), vgpu.gpu());
          itsNodes.computeIfAbsent(gpu.name(), name -> node(gpu, token));
          away.computeIfAbsent(gpu.name(), name -> awayFrom(gpu));
          uses.putIfAbsent(gpu.host().orElseThrow(), guest.name());
          vgpus.add(derived(vgpu.elsewhere(token), vgpu));
          continue;
        }
        if (gpu != null && gpu.owner().kind() == Owner.Kind.NODE) {
          away.putIfAbsent(gpu.name(), gpu);
        }
        vgpus.add(vgpu);
      }
      if (vgpus.stream().anyMatch(VGpu::isAny)) {
        allOfNodes().forEach(gpu -> away.putIfAbsent(gpu.name(), gpu));
      }
      itsGuests.add(vgpus.equals(guest.vgpus()) ? guest : derived(guest.withVgpus(vgpus), guest));
    }
    for (Gpu gpu : away.values()) {
      Node node = nodes.get(gpu.owner().name());
      if (node != null && !itsNodes.containsKey(gpu.name())) {
        itsNodes.put(
            node.name(), derived(new Node(node.name(), node.server(), files.of(node)), node));
      }
    }
    itsGpus.addAll(away.values());
    List<RemoteGuest> others =
        own.stream().flatMap(gpu -> lent.getOrDefault(gpu.name(), List.of()).stream()).toList();
    Descriptor descriptor =
        whole.onHost(
            host, itsGpus, fabric, networks, List.copyOf(itsNodes.values()), itsGuests, others);
    return new HostPart(host, derived(descriptor, whole), uses);
  }

  private List<Gpu> allOfNodes() {
    return whole.gpus().stream().filter(gpu -> gpu.owner().kind() == Owner.Kind.NODE).toList();
  }

  private Node node(Gpu gpu, String token) {
    String address = hosts.get(gpu.host().orElseThrow()).served().text();
    String host = address.contains(":") ? "[" + address + "]" : address;
    return derived(
        new Node(gpu.name(), Endpoint.tcp(host, gpu.server().port().orElseThrow()), token), gpu);
  }

  /** The GPU as the hosts of its guests see it: what its server does is not theirs to say. */
  private Gpu awayFrom(Gpu gpu) {
    Gpu away =
        new Gpu(
            gpu.name(),
            new Owner(Owner.Kind.NODE, gpu.name()),
            gpu.device(),
            gpu.memory(),
            gpu.chip(),
            derived(gpu.server().elsewhere(), gpu.server()),
            Optional.empty());
    return derived(away, gpu);
  }

  private <T> T derived(T copy, Object original) {
    positions.same(copy, original);
    return copy;
  }

  /** A single host gets what names none. */
  private <T> Map<Name, List<T>> byHost(List<T> all, Function<T, Optional<Name>> host) {
    if (hosts.size() == 1) {
      return Map.of(hosts.keySet().iterator().next(), all);
    }
    return all.stream()
        .filter(one -> host.apply(one).isPresent())
        .collect(Collectors.groupingBy(one -> host.apply(one).orElseThrow()));
  }

  /**
   * Orders parts by who uses whose GPUs. Hosts that use each other's, which the rules refuse, come
   * last.
   */
  private static List<HostPart> ordered(List<HostPart> parts) {
    Map<Name, Integer> levels = new HashMap<>();
    boolean changed = true;
    for (int round = 0; changed && round <= parts.size(); round++) {
      changed = false;
      for (HostPart part : parts) {
        int level =
            part.after().stream()
                .mapToInt(host -> levels.getOrDefault(host, 0) + 1)
                .max()
                .orElse(0);
        changed |= !Integer.valueOf(level).equals(levels.put(part.name(), level));
      }
    }
    return parts.stream()
        .sorted(Comparator.comparing((HostPart part) -> levels.get(part.name())))
        .toList();
  }
}
