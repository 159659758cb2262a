package graft.remoting.server;

import graft.remoting.server.accept.Acceptor;
import graft.remoting.server.accept.Grants;
import graft.remoting.server.accept.Handshake;
import graft.remoting.server.accept.RevocationWatch;
import graft.remoting.server.accept.SessionGate;
import graft.remoting.server.accept.SessionPlaces;
import graft.remoting.server.accept.TokensFile;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.pool.ServerMetrics;
import graft.remoting.server.pool.WorkerCommand;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Ucx;
import graft.remoting.server.worker.WorkerMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server beside the GPU. Accepts and authenticates clients and hands each to a worker process
 * of its own, so that a fault, a crash or a leak ends with that session alone.
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

  private final List<AutoCloseable> parts = new ArrayList<>();
  private final List<ListenAddress> addresses = new ArrayList<>();
  private Optional<ListenAddress> metricsAddress = Optional.empty();
  private Optional<String> rdmaObstacle = Optional.empty();
  private Isolation isolation = Isolation.none("the server has not started");
  private boolean closed;

  private GraftServer() {}

  /**
   * Starts a server and waits until it can take a session.
   *
   * @throws ServerException when it cannot: an address in use, a tokens file that is missing, wrong
   *     or open to others, a device that does not open. Nothing is left behind then.
   */
  public static GraftServer start(ServerConfig config) throws ServerException {
    GraftServer server = new GraftServer();
    try {
      server.open(config);
      return server;
    } catch (ServerException e) {
      server.close();
      throw e;
    }
  }

  private void open(ServerConfig config) throws ServerException {
    if (!config.rdmaPorts().isEmpty()) {
      rdmaObstacle = Ucx.obstacle(String.join(",", config.rdmaPorts()));
    }
    Grants grants = grants(config);
    List<Listener> listeners = new ArrayList<>();
    for (ListenAddress address : config.listen()) {
      Listener listener = Listener.open(address);
      listeners.add(listener);
      parts.add(listener);
      addresses.add(listener.address());
    }
    Path folder = runtimeFolder(config.runtimeFolder());
    WorkerJail jail = jail(config.jail());
    ServerMetrics metrics = new ServerMetrics();
    WorkerCommand command =
        new WorkerCommand(
            WorkerMain.class,
            jail,
            folder,
            config.spinMicros(),
            config.rdmaPorts(),
            config.workerOptions());
    WorkerKind spare = new WorkerKind(config.device(), !config.rdmaPorts().isEmpty());
    WorkerPool pool =
        new WorkerPool(command, WorkerCommand.socket(folder), spare, config.spares(), metrics);
    parts.add(pool);
    pool.start();
    if (config.metrics().isPresent()) {
      MetricsEndpoint endpoint =
          new MetricsEndpoint(
              config.metrics().get(), () -> metrics.page(pool.sessions(), pool.readyWorkers()));
      parts.add(endpoint);
      metricsAddress = Optional.of(endpoint.address());
    }
    Handshake handshake =
        new Handshake(Dispatcher.API_HASH, grants, pool::secret, config.handshakeLimit());
    SessionPlaces places =
        new SessionPlaces(config.maxSessions(), config.maxGuestSessions(), grants, pool::sessions);
    Acceptor acceptor =
        new Acceptor(
            listeners,
            handshake,
            new SessionGate(pool, config.device(), config.memory(), places, metrics),
            metrics,
            config.maxHandshakes(),
            GraftServer::end);
    parts.add(acceptor);
    acceptor.start();
    config
        .tokens()
        .ifPresent(path -> parts.add(RevocationWatch.start(path, new TokensFile(path), pool)));
    LOG.info("serves {} at {}", config.device(), addresses);
  }

  /** Ends the process at once: what shut down the accepting thread may also hinder an exit. */
  private static void end(Throwable cause) {
    try {
      LOG.error("the server accepts no connection any more and ends", cause);
    } finally {
      Runtime.getRuntime().halt(1);
    }
  }

  private static Grants grants(ServerConfig config) throws ServerException {
    if (config.tokens().isEmpty()) {
      LOG.warn(
          "anyone who reaches {} may use the device: no client has to prove who it is",
          config.listen());
      return Grants.anyone();
    }
    TokensFile tokens = new TokensFile(config.tokens().get());
    tokens.read();
    return tokens;
  }

  private WorkerJail jail(JailConfig config) throws ServerException {
    WorkerJail jail = WorkerJail.open(config);
    parts.add(jail);
    isolation = jail.isolation();
    if (config.isRequired() && !isolation.isComplete()) {
      throw new IsolationException(isolation);
    }
    LOG.info("{}", isolation.describe());
    return jail;
  }

  /** What its workers are confined by. */
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

  /** Where it listens, with the ports that the system chose, in the order of the configuration. */
  public List<ListenAddress> addresses() {
    return List.copyOf(addresses);
  }

  /**
   * Why no client could use rdma when the server started. That does not stop it: a port's driver
   * may come later, and other channels do without.
   */
  public Optional<String> rdmaObstacle() {
    return rdmaObstacle;
  }

  /** Where it shows metrics. */
  public Optional<ListenAddress> metricsAddress() {
    return metricsAddress;
  }

  /**
   * Stops: no new sessions, all sessions end, all processes and socket files are gone on return.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (int i = parts.size() - 1; i >= 0; i--) {
      try {
        parts.get(i).close();
      } catch (Exception e) {
        LOG.warn("while stopping: {}", e.toString());
      }
    }
  }
}
