package graft.deployment.plan;

import graft.common.values.Endpoint;
import graft.common.values.Name;
import graft.deployment.descriptor.Network;
import graft.deployment.descriptor.Node;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.journal.Entry;
import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.observe.NetworkFacts;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.host.MakeServerUser;
import graft.deployment.step.host.MakeSocketFolder;
import graft.deployment.step.host.RaiseGrantLimit;
import graft.deployment.step.host.RunServer;
import graft.deployment.step.host.StartClosedNetwork;
import graft.deployment.step.host.StartServer;
import graft.guests.connection.HostAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The steps that start servers for the GPUs of the host, and the addresses of these servers for
 * guests.
 */
final class ServerSteps {
  private static final int FIRST_PORT = 7799;
  private static final int PORTS = 1000;

  private static final String LOOPBACK = "127.0.0.1";

  /**
   * The address of the host's loopback for guests on QEMU's user-mode network, and of the server on
   * a closed one.
   */
  private static final String SERVER_FROM_GUEST = "10.0.2.2";

  private final PlanInput input;
  private final Map<Name, Integer> ports = new HashMap<>();
  private final Map<Name, Integer> networkPorts = new HashMap<>();

  ServerSteps(PlanInput input) {
    this.input = input;
    Set<Integer> taken = new TreeSet<>(input.snapshot().listening());
    for (Gpu gpu : input.descriptor().gpus()) {
      int port = gpu.server().port().or(() -> recorded(gpu)).orElseGet(() -> free(taken));
      ports.put(gpu.name(), port);
      taken.add(port);
    }
    for (Gpu gpu : input.descriptor().gpus()) {
      int port = recordedNetwork(gpu).orElseGet(() -> free(taken));
      networkPorts.put(gpu.name(), port);
      taken.add(port);
    }
  }

  /**
   * Each deployment begins its search at another port, so that two concurrent applies choose
   * different ones.
   */
  private int free(Set<Integer> taken) {
    int hash = input.descriptor().deploymentName().text().hashCode();
    int port = FIRST_PORT + Math.floorMod(hash, PORTS);
    while (taken.contains(port)) {
      port++;
    }
    return port;
  }

  /** The port of an earlier apply, which the guests are configured with. */
  private Optional<Integer> recorded(Gpu gpu) {
    return input
        .journal()
        .entry("server/" + gpu.name() + "/server")
        .map(Entry::step)
        .filter(HostServer.class::isInstance)
        .map(step -> ((HostServer) step).listen().get(0).port());
  }

  /** The port of an earlier apply, to which the guests' cards are connected. */
  private Optional<Integer> recordedNetwork(Gpu gpu) {
    return input
        .journal()
        .step("server/" + gpu.name() + "/closed-network", StartClosedNetwork.class)
        .map(StartClosedNetwork::port);
  }

  /**
   * The port of the host's loopback to which cards on the closed network of a GPU are connected.
   */
  int networkPort(Name gpu) {
    return networkPorts.get(gpu);
  }

  /** The step that starts the closed network of a GPU's guests; empty if none has a closed card. */
  private Optional<Step> closedNetwork(Gpu gpu) {
    StateFolder state = input.layout().state();
    Endpoint server =
        node(gpu.name())
            .map(Node::server)
            .orElseGet(() -> Endpoint.tcp(LOOPBACK, ports.get(gpu.name())));
    return gpu.owner().kind() != Owner.Kind.GUEST
            && input.descriptor().guests().stream()
                .anyMatch(guest -> uses(guest, gpu) && new GuestCards(input, guest).isClosed())
        ? Optional.of(
            new StartClosedNetwork(
                gpu.name().text(),
                networkPort(gpu.name()),
                server,
                state.networkPid(gpu.name()),
                state.networkLog(gpu.name())))
        : Optional.empty();
  }

  List<Step> steps() {
    StateFolder state = input.layout().state();
    List<Step> steps = new ArrayList<>();
    for (Gpu gpu : input.descriptor().gpus()) {
      closedNetwork(gpu).ifPresent(steps::add);
      Set<Endpoint> listen = new LinkedHashSet<>();
      List<Step> sockets = new ArrayList<>();
      for (Guest guest : input.descriptor().guests()) {
        if (uses(guest, gpu)) {
          listen.add(Endpoint.tcp(listenHost(guest), ports.get(gpu.name())));
          GuestChannels channels = channels(guest, gpu.name());
          if (channels.usesVsock()) {
            listen.add(Endpoint.vsock(Endpoint.ANY, ports.get(gpu.name())));
          }
          if (channels.usesSocket()) {
            MakeSocketFolder socket = socket(gpu, guest);
            sockets.add(socket);
            listen.add(Endpoint.unix(MakeSocketFolder.socket(socket.folder()).toString()));
          }
        }
      }
      input
          .descriptor()
          .remoteGuests(gpu)
          .forEach(one -> listen.add(Endpoint.tcp(bracketed(one.address().text()), port(gpu))));
      if (gpu.owner().kind() == Owner.Kind.HOST && !listen.isEmpty()) {
        steps.addAll(sockets);
        steps.addAll(server(gpu, List.copyOf(listen)));
      }
    }
    if (steps.stream().anyMatch(RunServer.class::isInstance)) {
      steps.add(
          new MakeServerUser(
              input.descriptor().deploymentName().text(),
              MakeServerUser.folder(state.path().getParent())));
    }
    return steps;
  }

  private MakeSocketFolder socket(Gpu gpu, Guest guest) {
    GuestContainer container = new GuestContainer(input, guest);
    return new MakeSocketFolder(
        gpu.name().text(),
        guest.name().text(),
        container.sockets(guest.further(gpu.name())),
        isUnprivileged(),
        container.ids().first());
  }

  /**
   * The options that name the host's servers of this server's guests that come before it, for
   * copies between their GPUs. One of two servers is enough, and so a further server leaves those
   * that run as they are.
   */
  private List<String> peers(Gpu gpu) {
    List<Gpu> all = input.descriptor().gpus();
    Set<Endpoint> peers = new LinkedHashSet<>();
    for (Gpu other : all.subList(0, all.indexOf(gpu))) {
      for (Guest guest : input.descriptor().guests()) {
        if (other.owner().kind() == Owner.Kind.HOST && uses(guest, gpu) && uses(guest, other)) {
          peers.add(Endpoint.tcp(listenHost(guest), ports.get(other.name())));
        }
      }
    }
    return peers.stream().flatMap(peer -> Stream.of("--peer", peer.toString())).toList();
  }

  private List<String> ofItsGuests(Gpu gpu) {
    return Stream.concat(
            peers(gpu).stream(),
            SharePreflight.dense(input.descriptor(), gpu).isEmpty()
                ? Stream.of()
                : Stream.of("--mps"))
        .toList();
  }

  private List<Step> server(Gpu gpu, List<Endpoint> listen) {
    StateFolder state = input.layout().state();
    String name = gpu.name().text();
    String device = gpu.device().toString();
    Path pidFile = state.serverPid(gpu.name());
    Path log = state.serverLog(gpu.name());
    int spare = gpu.server().spare();
    List<PortName> ports = rdmaPorts(gpu);
    if (!isUnprivileged()) {
      Path tokens = state.tokens(gpu.name());
      List<String> options =
          new ArrayList<>(ServerOptions.of(gpu, state.path().resolveSibling("audit.jsonl")));
      options.addAll(ofItsGuests(gpu));
      return List.of(
          new StartServer(
              name, listen, device, gpu.memory(), spare, ports, tokens, pidFile, log, options));
    }
    boolean byUnits = input.snapshot().services().systemd();
    ServerFolder folder = ServerFolder.of(state, gpu.name());
    List<String> options = new ArrayList<>(ServerOptions.of(gpu, folder.audit()));
    options.addAll(ofItsGuests(gpu));
    RunServer server =
        new RunServer(
            name,
            listen,
            device,
            gpu.memory(),
            spare,
            ports,
            folder.instance(),
            byUnits,
            pidFile,
            log,
            options);
    List<Step> steps = new ArrayList<>();
    if (byUnits) {
      steps.addAll(server.units(gpu.server().autostart()));
    }
    steps.add(server);
    return steps;
  }

  /** Whether the host's server of a GPU runs without privileges, beside a starter that has them. */
  private boolean isUnprivileged() {
    return input.snapshot().host().root() && whyRoot().isEmpty();
  }

  /** Why root's servers cannot run as another user. */
  private static Optional<String> whyRoot() {
    return RunServer.starter().isPresent()
        ? Optional.empty()
        : Optional.of(
            "other users cannot run this Graft ("
                + System.getProperty("graft.home", "not built")
                + "); install it where they can, such as /opt");
  }

  /** Why servers of the host run as root, where they do. */
  List<String> warnings() {
    return input.descriptor().gpus().stream()
        .filter(gpu -> gpu.owner().kind() == Owner.Kind.HOST && isUsed(gpu))
        .filter(gpu -> input.snapshot().host().root())
        .filter(gpu -> !System.getProperty("graft.home", "").isEmpty())
        .flatMap(
            gpu ->
                whyRoot().stream()
                    .map(why -> "the server of '" + gpu.name() + "' runs as root: " + why))
        .toList();
  }

  /** The tokens of a GPU's server: the host's server may not enter the state folder. */
  Path tokens(Name gpu) {
    StateFolder state = input.layout().state();
    boolean isHosts = input.descriptor().gpu(gpu).orElseThrow().owner().kind() == Owner.Kind.HOST;
    return isHosts && isUnprivileged() ? ServerFolder.of(state, gpu).tokens() : state.tokens(gpu);
  }

  /**
   * The step that raises the limit of granted pages for sessions over vchan; empty if there are
   * none.
   */
  Optional<Step> grantLimit() {
    return input.descriptor().guests().stream()
            .flatMap(guest -> GuestChannels.of(input, guest).stream())
            .anyMatch(GuestChannels::usesVchan)
        ? Optional.of(
            new RaiseGrantLimit(
                input.descriptor().deploymentName().text(),
                RaiseGrantLimit.folder(input.layout().state().path().getParent())))
        : Optional.empty();
  }

  private static boolean uses(Guest guest, Gpu gpu) {
    return guest.vgpu(gpu.name()).isPresent();
  }

  private GuestChannels channels(Guest guest, Name gpu) {
    return new GuestChannels(input, guest, guest.vgpu(gpu).orElseThrow());
  }

  /** The port of a GPU's server. */
  int port(Gpu gpu) {
    return ports.get(gpu.name());
  }

  /**
   * The ports that rdma uses at the server of a GPU. If the descriptor names none, they are those
   * of the fabric's only adapter, or in a guest those of its functions. No port is named if some
   * guest uses rdma without a function of the fabric, because that guest is on none of these
   * networks.
   */
  List<PortName> rdmaPorts(Gpu gpu) {
    if (!gpu.server().rdmaPorts().isEmpty()) {
      return gpu.server().rdmaPorts();
    }
    boolean elsewhere =
        input.descriptor().guests().stream()
            .filter(guest -> uses(guest, gpu) && guest.vfs().isEmpty())
            .anyMatch(guest -> channels(guest, gpu.name()).usable().contains(Channel.RDMA));
    Map<Name, List<PortName>> adapters = input.devices().ports();
    if (elsewhere) {
      return List.of();
    }
    return switch (gpu.owner().kind()) {
      case HOST -> adapters.size() == 1 ? adapters.values().iterator().next() : List.of();
      case GUEST -> input.devices().of(gpu.owner().name()).ports();
      case NODE -> List.of();
    };
  }

  /** Whether the server of a GPU runs in a guest. */
  boolean inGuest(Name gpu) {
    return input.descriptor().gpu(gpu).orElseThrow().owner().kind() == Owner.Kind.GUEST;
  }

  /** The node whose server serves a GPU. */
  Optional<Node> node(Name gpu) {
    Owner owner = input.descriptor().gpu(gpu).orElseThrow().owner();
    return input.descriptor().nodes().stream()
        .filter(node -> owner.kind() == Owner.Kind.NODE && node.name().equals(owner.name()))
        .findFirst();
  }

  /** The file with the token of a guest for the server of a GPU. */
  Path token(Guest guest, Name gpu) {
    Optional<String> own = guest.vgpu(gpu).flatMap(VGpu::tokenFile);
    return node(gpu)
        .map(node -> input.file().resolve(own.orElse(node.tokenFile())))
        .orElseGet(() -> input.layout().state().token(guest.name(), guest.further(gpu)));
  }

  /** Whether any guest uses a GPU without owning it. */
  boolean isUsed(Gpu gpu) {
    return !input.descriptor().remoteGuests(gpu).isEmpty()
        || input.descriptor().guests().stream().anyMatch(guest -> uses(guest, gpu));
  }

  /** The guests that use a GPU without owning it, each with its settings. */
  List<String> users(Gpu gpu) {
    return input.descriptor().guests().stream()
        .filter(guest -> uses(guest, gpu))
        .map(guest -> (guest.name() + " " + channels(guest, gpu.name()).grant()).strip())
        .toList();
  }

  /**
   * The server's address for a guest. A server in another guest is addressed by the name of that
   * guest, which libvirt's DNS knows by DHCP.
   */
  Endpoint forGuest(Guest guest, Name gpu) {
    Optional<Node> node = node(gpu);
    boolean closed = new GuestCards(input, guest).first().map(Nic::isClosed).orElse(false);
    if (node.isPresent()) {
      Endpoint server = node.get().server();
      return closed ? Endpoint.tcp(SERVER_FROM_GUEST, server.port()) : server;
    }
    if (inGuest(gpu)) {
      Owner owner = input.descriptor().gpu(gpu).orElseThrow().owner();
      return Endpoint.tcp(owner.name().text(), ports.get(gpu));
    }
    if (guest.existing().isPresent()) {
      boolean user = machine(guest).domain().filter(DomainFacts::isOnUserNetwork).isPresent();
      String reached =
          guest
              .existing()
              .get()
              .server()
              .map(HostAddress::text)
              .orElseGet(() -> user ? SERVER_FROM_GUEST : listenHost(guest));
      return Endpoint.tcp(bracketed(reached), ports.get(gpu));
    }
    String host = isOnLibvirtNetwork(guest) ? listenHost(guest) : SERVER_FROM_GUEST;
    return Endpoint.tcp(host, ports.get(gpu));
  }

  private MachineFacts machine(Guest guest) {
    return input.snapshot().machines().get(guest.name().text());
  }

  private static String bracketed(String host) {
    return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  private boolean isOnLibvirtNetwork(Guest guest) {
    return new GuestCards(input, guest).first().map(Nic::isOnLibvirtNetwork).orElse(false);
  }

  /** The addresses that the server listens at: only those that its guests use. */
  private String listenHost(Guest guest) {
    if (guest.existing().isPresent()) {
      String listen = machine(guest).listen();
      return listen.isEmpty() ? LOOPBACK : bracketed(listen); // without one the plan is refused
    }
    if (!isOnLibvirtNetwork(guest)) {
      return LOOPBACK;
    }
    Nic nic = new GuestCards(input, guest).first().orElseThrow();
    Optional<Network> defined = input.descriptor().network(nic.network());
    return defined
        .map(network -> network.address().host())
        .or(
            () ->
                input
                    .snapshot()
                    .libvirt()
                    .network(nic.network().text())
                    .map(NetworkFacts::address)
                    .filter(address -> !address.isEmpty()))
        .orElse(LOOPBACK);
  }
}
