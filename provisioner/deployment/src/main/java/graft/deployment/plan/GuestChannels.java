package graft.deployment.plan;

import graft.common.bind.Problems;
import graft.common.grants.Share;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.fabric.DomainFit;
import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.placement.RegionSize;
import graft.deployment.step.Step;
import graft.deployment.step.guest.MakeRegion;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.VsockSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The channels of a guest to the server of one of its vGPUs, and why it has no others. */
final class GuestChannels {
  /** The folder of shared memory in Linux, where QEMU puts the regions that libvirt names. */
  static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** The best first. */
  private static final List<Channel> ALL =
      List.of(
          Channel.SHM,
          Channel.IVSHMEM,
          Channel.UNIX,
          Channel.RDMA,
          Channel.VCHAN,
          Channel.VSOCK,
          Channel.TCP);

  private final PlanInput input;
  private final Guest guest;
  private final VGpu vgpu;
  private final Map<Channel, String> obstacles = new EnumMap<>(Channel.class);

  GuestChannels(PlanInput input, Guest guest, VGpu vgpu) {
    this.input = input;
    this.guest = guest;
    this.vgpu = vgpu;
    noRdma().ifPresent(why -> obstacles.put(Channel.RDMA, why));
    if (guest.existing().flatMap(Existing::ssh).isPresent()) {
      for (Channel local :
          List.of(Channel.SHM, Channel.UNIX, Channel.VSOCK, Channel.IVSHMEM, Channel.VCHAN)) {
        obstacles.put(local, "only its network connects a machine that exists already to a server");
      }
      return;
    }
    domain().ifPresent(this::ofDomain);
    noVsock().ifPresent(why -> obstacles.putIfAbsent(Channel.VSOCK, why));
    noSharedMemory().ifPresent(why -> obstacles.putIfAbsent(Channel.IVSHMEM, why));
    noVchan().ifPresent(why -> obstacles.put(Channel.VCHAN, why));
    noSocket()
        .ifPresent(why -> List.of(Channel.SHM, Channel.UNIX).forEach(c -> obstacles.put(c, why)));
    if (isContainer() && guest.networks().isEmpty()) {
      obstacles.put(Channel.TCP, "the container has no network");
    }
    if (obstacles.keySet().containsAll(Set.of(Channel.TCP, Channel.VSOCK))) {
      obstacles.putIfAbsent(Channel.IVSHMEM, "the guest has no network and no vsock");
    }
  }

  /** The domain, if somebody else made it. */
  private Optional<DomainFacts> domain() {
    return Optional.ofNullable(input.snapshot().machines().get(guest.name().text()))
        .flatMap(MachineFacts::domain);
  }

  private void ofDomain(DomainFacts domain) {
    String listen = input.snapshot().machines().get(guest.name().text()).listen();
    long devices = DomainFit.missing(domain, input.devices().of(guest.name()).devices());
    long before = devices + guest.vgpus().indexOf(vgpu); // each may have memory of its own
    obstacles.putAll(domain.obstacles(regionName(), before));
    domain
        .noNetwork(listen)
        .filter(why -> serverIsAway().isEmpty())
        .ifPresent(why -> obstacles.put(Channel.TCP, why));
  }

  /** The channels of each of a guest's vGPUs, in the descriptor's order. */
  static List<GuestChannels> of(PlanInput input, Guest guest) {
    return guest.vgpus().stream().map(vgpu -> new GuestChannels(input, guest, vgpu)).toList();
  }

  private boolean isContainer() {
    return guest.root().isPresent();
  }

  private Optional<String> noSocket() {
    return isContainer()
        ? serverIsAway()
        : Optional.of("only containers of this host have a socket of its server");
  }

  private Channel wanted() {
    return vgpu.channel();
  }

  /** Why the guest has only a network to the server. */
  private Optional<String> serverIsAway() {
    ServerSteps servers = new ServerSteps(input);
    if (servers.node(vgpu.gpu()).isPresent()) {
      return Optional.of("its server is on another machine");
    } else if (servers.inGuest(vgpu.gpu())) {
      return Optional.of("its server is in another guest");
    }
    return Optional.empty();
  }

  private Optional<String> noVsock() {
    if (!input.snapshot().libvirt().uri().startsWith("qemu:///")) {
      return Optional.of("only guests of QEMU on this host have vsock to it");
    } else if (serverIsAway().isPresent()) {
      return serverIsAway();
    }
    return input.snapshot().host().vsock()
        ? Optional.empty()
        : Optional.of("/dev/vhost-vsock is not there or may not be used (modprobe vhost_vsock)");
  }

  private boolean isOfXen() {
    return input.snapshot().libvirt().uri().startsWith("xen:///");
  }

  private Optional<String> noVchan() {
    return isOfXen()
        ? serverIsAway().or(input.snapshot().host().pageGrants()::obstacle)
        : Optional.of("only guests of Xen on this host share pages with its server");
  }

  private boolean mayBeUnencrypted(Channel channel) {
    return vgpu.unencrypted().contains(channel);
  }

  private Optional<String> noRdma() {
    if (!mayBeUnencrypted(Channel.RDMA)) {
      return Optional.of(
          "rdma does not encrypt bulk data. If its network is isolated or protected by IPsec,"
              + " allow it: unencrypted: [rdma]");
    }
    return serverIsAway().isPresent() || input.snapshot().host().ucx()
        ? Optional.empty()
        : Optional.of("this host has no UCX for the server (Debian: libucx0)");
  }

  /**
   * The channels of {@code auto}. They leave out rdma for a guest without an adapter: UCX would use
   * TCP then, which is no faster than the channel tcp.
   */
  private boolean isWanted(Channel channel) {
    return wanted() == channel
        || (wanted() == Channel.AUTO && (channel != Channel.RDMA || !guest.vfs().isEmpty()));
  }

  private Optional<String> noSharedMemory() {
    if (!input.snapshot().libvirt().uri().startsWith("qemu:///")) {
      return Optional.of("only guests of QEMU on this host share memory with its server");
    } else if (serverIsAway().isPresent()) {
      return serverIsAway();
    }
    long free = freeSharedMemory();
    return RegionSize.toBeMade(guest, vgpu, input.journal(), orAvailable(free)) > free
        ? Optional.of(
            SHARED_MEMORY
                + " has "
                + new MemorySize(Math.max(0, free)).rounded()
                + " free, and the region takes "
                + region())
        : Optional.empty();
  }

  /** The shared memory that the regions before this one leave, in bytes. */
  private long freeSharedMemory() {
    long free = input.snapshot().host().sharedMemory();
    for (Guest one : input.descriptor().guests()) {
      for (VGpu its : one.vgpus()) {
        if (one.name().equals(guest.name()) && its.gpu().equals(vgpu.gpu())) {
          return free;
        }
        free -= RegionSize.toBeMade(one, its, input.journal(), orAvailable(free));
      }
    }
    return free;
  }

  /** The host's free memory, if it has less than is left of shared memory. */
  private long orAvailable(long free) {
    return Math.min(free, input.snapshot().host().availableMemory());
  }

  /** In the order in which the client tries them. */
  List<Channel> usable() {
    return ALL.stream()
        .filter(this::isWanted)
        .filter(channel -> !obstacles.containsKey(channel))
        .toList();
  }

  /** Reports a channel that the descriptor names and that is not possible. */
  void check(Problems problems) {
    if (obstacles.containsKey(wanted())) {
      problems.add(
          input.file().positions().of(vgpu, "channel"),
          "the guest cannot use " + word(wanted()) + ": " + obstacles.get(wanted()),
          "channel: auto chooses the best that works");
    } else if (usable().isEmpty()) {
      problems.add(
          input.file().positions().of(vgpu),
          "the guest cannot reach the server of its GPU: "
              + obstacles.get(isContainer() ? Channel.SHM : Channel.VSOCK)
              + ", and "
              + obstacles.get(Channel.TCP),
          "write networks: [default], or another network that reaches the server");
    }
    if (!Set.of(Channel.RDMA, Channel.TCP).containsAll(vgpu.unencrypted())) {
      problems.add(
          input.file().positions().of(vgpu, "unencrypted"),
          "only tcp and rdma send data over a network, not all of " + words(vgpu.unencrypted()),
          "unencrypted: [rdma]");
    }
  }

  private static String words(List<Channel> channels) {
    return channels.stream().map(GuestChannels::word).collect(Collectors.joining(", "));
  }

  /** Why {@code auto} leaves out rdma for a guest that could use it; empty if it does not. */
  Optional<String> unusedRdma() {
    return wanted() == Channel.AUTO && isWanted(Channel.RDMA) && !mayBeUnencrypted(Channel.RDMA)
        ? Optional.of(
            "the guest '"
                + guest.name()
                + "' does not use rdma over its virtual functions: "
                + obstacles.get(Channel.RDMA))
        : Optional.empty();
  }

  /** Why {@code auto} chooses nothing faster than the network; empty if it does. */
  Optional<String> warning() {
    return guest.existing().flatMap(Existing::ssh).isEmpty()
            && wanted() == Channel.AUTO
            && usable().equals(List.of(Channel.TCP))
        ? Optional.of(
            "the guest '"
                + guest.name()
                + "' reaches its GPU"
                + (guest.vgpus().size() > 1 ? " '" + vgpu.gpu() + "'" : "")
                + " over the network: "
                + ALL.stream()
                    .filter(channel -> isWanted(channel) && obstacles.containsKey(channel))
                    .filter(this::isOfItsHypervisor)
                    .map(obstacles::get)
                    .distinct()
                    .collect(Collectors.joining("; ")))
        : Optional.empty();
  }

  /** Whether the reason is worth a note: not for channels that only another hypervisor has. */
  private boolean isOfItsHypervisor(Channel channel) {
    return switch (channel) {
      case VCHAN -> isOfXen();
      case SHM, UNIX -> isContainer();
      case IVSHMEM, VSOCK -> !isOfXen() && !isContainer();
      default -> true;
    };
  }

  /** For display: {@code ivshmem (128MiB), tcp}. */
  String summary() {
    return usable().stream()
        .map(c -> word(c) + (c == Channel.IVSHMEM ? " (" + region() + ")" : ""))
        .collect(Collectors.joining(", "));
  }

  static String word(Channel channel) {
    return channel.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The addresses for the client's configuration, the best first.
   *
   * @param server the server's address in the guest's network
   */
  String addresses(Endpoint server) {
    return usable().stream()
        .flatMap(channel -> addresses(channel, server))
        .collect(Collectors.joining(", "));
  }

  /**
   * Whether what the guest sends to this server needs no encryption. QEMU's user network and the
   * closed network have no wire between the guest and this host: what the guest sends arrives at
   * the host's loopback interface.
   */
  boolean needsNoEncryption() {
    boolean isPrivate =
        serverIsAway().isEmpty()
            && (new GuestCards(input, guest)
                    .first()
                    .filter(nic -> nic.isUser() || nic.isClosed())
                    .isPresent()
                || domain().filter(DomainFacts::isOnUserNetwork).isPresent());
    return isPrivate || mayBeUnencrypted(Channel.TCP);
  }

  private Stream<String> addresses(Channel channel, Endpoint server) {
    String network = word(channel) + "://" + server.host() + ":" + server.port();
    String vsock = Endpoint.vsock(Endpoint.HOST, server.port()).toString();
    if (channel == Channel.VSOCK) {
      return Stream.of(vsock);
    } else if (channel == Channel.SHM || channel == Channel.UNIX) {
      return Stream.of(word(channel) + "://" + GuestContainer.socketInside(further()));
    }
    // With vsock, the first contact and the doorbell need no network either.
    return channel == Channel.IVSHMEM && usesVsock()
        ? Stream.of(word(channel) + "+" + vsock, network)
            .limit(obstacles.containsKey(Channel.TCP) ? 1 : 2)
        : Stream.of(network);
  }

  private RegionSize regionSize() {
    return RegionSize.of(guest, vgpu, input.journal(), orAvailable(freeSharedMemory()));
  }

  MemorySize region() {
    return regionSize().size();
  }

  /** What a guest is told that has a smaller region than a new one would get. */
  Optional<String> oldRegion() {
    return sharesMemory() ? regionSize().advice(guest.name()) : Optional.empty();
  }

  private Optional<Name> further() {
    return guest.further(vgpu.gpu());
  }

  /** Whether the server grants pages to the guest. */
  boolean usesVchan() {
    return usable().contains(Channel.VCHAN);
  }

  /** Whether the server has a socket for the guest, a container. */
  boolean usesSocket() {
    return usable().contains(Channel.SHM) || usable().contains(Channel.UNIX);
  }

  boolean sharesMemory() {
    return usable().contains(Channel.IVSHMEM);
  }

  /** Whether the guest needs vsock: as a channel, or for the first contact of ivshmem. */
  boolean usesVsock() {
    return usable().contains(Channel.VSOCK)
        || (sharesMemory() && !obstacles.containsKey(Channel.VSOCK));
  }

  private long cid() {
    String deployment = input.descriptor().deploymentName().text();
    return domain()
        .flatMap(DomainFacts::cid)
        .orElseGet(() -> Identities.cid(deployment, guest.name().text()));
  }

  String regionName() {
    String name = "graft." + input.descriptor().deploymentName() + "." + guest.name();
    return name + further().map(gpu -> "." + gpu).orElse("");
  }

  private Path regionFile() {
    return SHARED_MEMORY.resolve(regionName());
  }

  /** The steps for the channels on the host. */
  List<Step> steps() {
    return sharesMemory()
        ? List.of(
            new MakeRegion(
                input.snapshot().libvirt().uri(),
                guest.name().text(),
                regionFile(),
                region(),
                further().map(Name::text)))
        : List.of();
  }

  /** Adds the devices that the channels need. */
  void addTo(DomainSpec.Builder spec) {
    if (usesVsock()) {
      spec.vsock(VsockSpec.of(cid()));
    }
    if (sharesMemory()) {
      spec.sharedMemory(new ShmemSpec(regionName(), region()));
    }
  }

  /** The settings of the vGPU, in the format of the server's tokens file. */
  String grant() {
    List<String> settings = new ArrayList<>(vgpu.limits());
    if (usesVsock()) {
      settings.add("cid=" + cid());
    }
    if (sharesMemory()) {
      settings.add("region=" + regionFile());
    }
    if (mayBeUnencrypted(Channel.TCP)) {
      settings.add("encryption=optional");
    }
    if (usesVchan()) {
      settings.add("domain=" + guest.name()); // the name that GuestDomain gives the domain
    }
    vgpu.share().map(Share::settings).ifPresent(settings::addAll);
    return String.join(" ", settings);
  }
}
