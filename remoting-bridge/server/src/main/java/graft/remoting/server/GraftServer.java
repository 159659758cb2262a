package graft.remoting.server;

import graft.common.disk.PrivateFiles;
import graft.common.grants.DomainList;
import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.server.accept.Acceptor;
import graft.remoting.server.accept.GpuProblems;
import graft.remoting.server.accept.Grants;
import graft.remoting.server.accept.Handshake;
import graft.remoting.server.accept.NodeCertificates;
import graft.remoting.server.accept.PeerDialer;
import graft.remoting.server.accept.RevocationWatch;
import graft.remoting.server.accept.SessionGate;
import graft.remoting.server.accept.SessionPlaces;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.operate.OperatorRequests;
import graft.remoting.server.operate.OperatorSocket;
import graft.remoting.server.pool.GuestUses;
import graft.remoting.server.pool.MpsOfWorkers;
import graft.remoting.server.pool.ServerAudit;
import graft.remoting.server.pool.ServerMetrics;
import graft.remoting.server.pool.Starter;
import graft.remoting.server.pool.StarterConfig;
import graft.remoting.server.pool.Worker;
import graft.remoting.server.pool.WorkerCommand;
import graft.remoting.server.pool.WorkerFailures;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.pool.WorkerStarter;
import graft.remoting.server.pool.WorkerStarters;
import graft.remoting.server.session.call.ClientRelease;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.share.GpuShares;
import graft.remoting.server.share.HostArbiter;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.system.ServiceManager;
import graft.remoting.server.transport.CertificateDates;
import graft.remoting.server.transport.Ucx;
import graft.remoting.server.worker.WorkerMain;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server that runs beside the GPU. It accepts and authenticates clients and hands each client
 * to a worker process of its own, so that a fault, a crash or a leak ends only that client's
 * session.
 *
 * <pre>{@code
 * ServerConfig config = ServerConfig.builder(Path.of("tokens"), DeviceSpec.parse("cuda"))
 *     .listen(ListenAddress.parse("tcp://0.0.0.0:7070"))
 *     .build();
 * try (GraftServer server = GraftServer.start(config)) { ... }
 * }</pre>
 */
public final class GraftServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GraftServer.class);

  /** How many more workers there may be while sessions begin and end at the same time. */
  private static final int ENDING = 16;

  private final List<AutoCloseable> parts = new ArrayList<>();
  private final List<ListenAddress> addresses = new ArrayList<>();
  private Optional<ListenAddress> metricsAddress = Optional.empty();
  private Optional<String> rdmaObstacle = Optional.empty();
  private final List<String> notices = new ArrayList<>();
  private Isolation isolation = Isolation.none("the server has not started");
  private boolean closed;

  private GraftServer() {}

  /**
   * Starts a server and waits until it can serve a session.
   *
   * @throws ServerException if the server cannot start: an address is in use, the tokens file is
   *     missing, no text or readable by others, or the device does not open. Everything that the
   *     server had created is removed before the exception is thrown.
   */
  public static GraftServer start(ServerConfig config) throws ServerException {
    return start(config, GpuHealth.of(config.device()));
  }

  static GraftServer start(ServerConfig config, GpuHealth health) throws ServerException {
    GraftServer server = new GraftServer();
    server.parts.add(health);
    try {
      server.open(config, health);
      return server;
    } catch (ServerException e) {
      server.close();
      throw e;
    }
  }

  private void open(ServerConfig config, GpuHealth health) throws ServerException {
    if (!config.rdmaPorts().isEmpty()) {
      rdmaObstacle = Ucx.obstacle(String.join(",", config.rdmaPorts()));
    }
    Map<String, Grant> configured = configured(config);
    Grants grants = grants(config);
    NodeCertificates certificates = new NodeCertificates(config.certificates());
    notices.addAll(notices(config, certificates, configured));
    List<Listener> listeners = listen(config);
    Path folder = runtimeFolder(config.runtimeFolder());
    WorkerStarter processes = processes(config, folder);
    ServerMetrics metrics = new ServerMetrics();
    ServerAudit audit = new ServerAudit(config.audit(), config.accounts());
    WorkerPool pool = pool(config, folder, processes, metrics, audit);
    GuestUses uses = new GuestUses(config.maxSessions());
    parts.add(uses);
    GpuShares shares =
        GpuShares.start(
            configured, config.watchdog(), place(config, pool), config.jail().usesMps());
    parts.add(shares);
    MpsOfWorkers mps = new MpsOfWorkers(processes, pool, GraftServer::end);
    parts.add(mps);
    parts.add(pool);
    if (config.jail().usesMps()) {
      mps.start();
    }
    pool.start();
    health.start(new GpuProblems(pool, health, audit));
    SessionPlaces places =
        new SessionPlaces(
            config.maxSessions(),
            config.maxGuestSessions(),
            config.queueTimeout(),
            grants,
            pool::sessions);
    pool.onSessionEnd(places::sessionEnded);
    openViews(config, pool, metrics, shares, health, places);
    Handshake handshake =
        new Handshake(
            Dispatcher.API_HASH,
            ClientRelease::isServed,
            grants,
            certificates,
            (session, name) -> secret(pool.find(session, name)),
            config.handshakeLimit());
    Acceptor acceptor =
        new Acceptor(
            listeners,
            handshake,
            new SessionGate(
                pool,
                config.device(),
                config.limits(),
                uses,
                shares,
                health,
                places,
                metrics,
                audit,
                new PeerDialer(config.peers(), Dispatcher.API_HASH)),
            metrics,
            audit,
            config.maxHandshakes(),
            GraftServer::end);
    parts.add(acceptor);
    acceptor.start();
    config
        .tokens()
        .ifPresent(path -> parts.add(RevocationWatch.start(new TokensFile(path), pool, shares)));
    LOG.info("serving {} at {}", config.device(), addresses);
    try {
      processes.serves();
    } catch (IOException e) {
      throw new ServerException("cannot tell graft-starter: " + e.getMessage(), e);
    }
    ServiceManager.ready();
  }

  private static WorkerPool pool(
      ServerConfig config,
      Path folder,
      WorkerStarter processes,
      ServerMetrics metrics,
      ServerAudit audit)
      throws ServerException {
    WorkerKind spare = new WorkerKind(config.device(), !config.rdmaPorts().isEmpty());
    return new WorkerPool(
        processes,
        WorkerCommand.socket(folder),
        new WorkerPool.Spares(spare, config.spares()),
        metrics,
        audit,
        config.keptData(),
        new WorkerFailures(System::nanoTime));
  }

  /**
   * Returns the secret that a further connection of a worker's session must prove to know; null if
   * there is no such session.
   */
  private static Bytes secret(Worker worker) {
    return worker == null ? null : worker.secret();
  }

  /** Where this server finds others of its GPU, under a name that it has after a restart, too. */
  private Optional<HostArbiter.Place> place(ServerConfig config, WorkerPool pool) {
    String name = addresses.get(0).toString();
    return config.arbiters().map(folder -> new HostArbiter.Place(folder, name, pool::hasWorker));
  }

  private List<Listener> listen(ServerConfig config) throws ServerException {
    List<Listener> listeners = new ArrayList<>();
    for (ListenAddress address : config.listen()) {
      Listener listener = Listener.open(address);
      listeners.add(listener);
      parts.add(listener);
      addresses.add(listener.address());
    }
    return listeners;
  }

  /** Opens what shows the server to others: metrics, and the socket for operators. */
  private void openViews(
      ServerConfig config,
      WorkerPool pool,
      ServerMetrics metrics,
      GpuShares shares,
      GpuHealth health,
      SessionPlaces places)
      throws ServerException {
    if (config.metrics().isPresent()) {
      MetricsEndpoint endpoint =
          new MetricsEndpoint(
              config.metrics().get(),
              () -> metrics.page(pool.readyWorkers(), places.waiting().size(), health.gpus()),
              pool::hasWorker);
      parts.add(endpoint);
      metricsAddress = Optional.of(endpoint.address());
    }
    if (config.operator().isPresent()) {
      List<String> listen = addresses.stream().map(ListenAddress::toString).toList();
      OperatorRequests requests =
          new OperatorRequests(
              pool, shares, health, config.device(), listen, config.maxSessions(), places::waiting);
      parts.add(new OperatorSocket(config.operator().get(), requests, pool::hasWorker));
    }
  }

  /** Ends the process at once: what ended one of its threads may also hinder an exit. */
  private static void end(Throwable cause) {
    try {
      LOG.error("the server cannot serve any more and ends", cause);
    } finally {
      Runtime.getRuntime().halt(1);
    }
  }

  private static Grants grants(ServerConfig config) throws ServerException {
    if (config.tokens().isEmpty()) {
      LOG.warn(
          "anyone who can connect to {} may use the device: clients are not authenticated",
          config.listen());
      return Grants.anyone();
    }
    return Grants.in(new TokensFile(config.tokens().get()));
  }

  /** Checks the certificates, and returns what has to be done about them. */
  private static List<String> notices(
      ServerConfig config, NodeCertificates certificates, Map<String, Grant> grants)
      throws ServerException {
    if (config.certificates().isPresent()) {
      certificates.checkFiles();
      return CertificateDates.warnings(config.certificates().get(), Instant.now());
    }
    return grants.values().stream()
        .filter(Grant::hasCertificate)
        .map(
            grant ->
                grant.name()
                    + " has a certificate in the tokens file, but the server takes none: start it"
                    + " with --certificates")
        .toList();
  }

  /**
   * Returns the grants of the tokens file; none without a file. The watch of the file reports lines
   * that are wrong.
   *
   * @throws ServerException if the file cannot be read
   */
  private static Map<String, Grant> configured(ServerConfig config) throws ServerException {
    if (config.tokens().isEmpty()) {
      return Map.of();
    }
    try {
      return new TokensFile(config.tokens().get()).readLines().grants();
    } catch (IOException e) {
      throw new ServerException(e.getMessage(), e);
    }
  }

  private WorkerStarter processes(ServerConfig config, Path folder) throws ServerException {
    WorkerStarter processes;
    if (config.starter().isPresent()) {
      processes = Starter.connect(config.starter().get(), GraftServer::end);
    } else {
      WorkerJail jail = WorkerJail.open(config.jail());
      parts.add(jail);
      processes =
          WorkerStarters.own(
              command(config, jail, folder),
              jail,
              folder,
              config.device(),
              workers(config),
              GraftServer::end);
    }
    parts.add(processes);
    isolation = processes.isolation();
    if (config.jail().isRequired() && !isolation.isComplete()) {
      throw new IsolationException(isolation);
    }
    LOG.info("{}", isolation.describe());
    return processes;
  }

  private static WorkerCommand command(ServerConfig config, WorkerJail jail, Path folder) {
    return new WorkerCommand(
        WorkerMain.class,
        jail,
        folder,
        config.spinMicros(),
        config.rdmaPorts(),
        config.sensors(),
        config.spareContexts(),
        config.workerOptions());
  }

  /** Returns the largest number of workers: those that end still count. */
  private static int workers(ServerConfig config) {
    return 2 * (config.maxSessions() + config.spares()) + ENDING;
  }

  /**
   * Writes the configuration of a graft-starter that starts the workers of such a server, and
   * prepares the host for them. Needs root.
   *
   * @param file the file; beside it a folder {@code jail} is made for what all jails contain
   */
  public static void writeStarterConfig(ServerConfig config, Path file) throws ServerException {
    Path folder = file.toAbsolutePath().getParent();
    // The jail is not closed: its folder stays for the starter.
    WorkerJail jail = WorkerJail.openIn(config.jail(), folder.resolve("jail"));
    StarterConfig text =
        new StarterConfig(
            command(config, jail, folder),
            jail,
            config.device(),
            workers(config),
            Optional.of(DomainList.of(config.tokens().orElse(file).toAbsolutePath()).file()));
    try {
      PrivateFiles.write(file, text.text().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new ServerException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  /** Returns the means by which the workers are confined. */
  public Isolation isolation() {
    return isolation;
  }

  private Path runtimeFolder(Optional<Path> wanted) throws ServerException {
    try {
      if (wanted.isEmpty()) {
        Path folder = Files.createTempDirectory("graft-server");
        parts.add(() -> Files.deleteIfExists(folder));
        return folder;
      }
      Path folder = wanted.get();
      Files.createDirectories(folder);
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
      return folder;
    } catch (NoSuchFileException e) {
      throw new ServerException("cannot make the runtime folder " + e.getFile(), e);
    } catch (IOException e) {
      throw new ServerException("cannot make the runtime folder: " + e, e);
    }
  }

  /**
   * Returns the addresses that the server listens on, in the order of the configuration, with the
   * ports that the system chose.
   */
  public List<ListenAddress> addresses() {
    return List.copyOf(addresses);
  }

  /**
   * Returns why rdma was not usable when the server started, or empty if it was. The server starts
   * anyway: the port's driver may be loaded later, and the other channels do not need it.
   */
  public Optional<String> rdmaObstacle() {
    return rdmaObstacle;
  }

  /**
   * Returns what has to be done about certificates: one that ends soon, or a guest that has one
   * though the server takes none.
   */
  public List<String> certificateNotices() {
    return List.copyOf(notices);
  }

  /** Returns the address of the metrics endpoint. */
  public Optional<ListenAddress> metricsAddress() {
    return metricsAddress;
  }

  /**
   * Stops the server: no new session is accepted, all sessions end, and all worker processes and
   * socket files are gone when this method returns.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    ServiceManager.stopping();
    for (int i = parts.size() - 1; i >= 0; i--) {
      try {
        parts.get(i).close();
      } catch (Exception e) {
        LOG.warn("while stopping: {}", e.toString());
      }
    }
  }
}
