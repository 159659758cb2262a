package graft.remoting.server;

import graft.common.audit.AuditLog;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.MachineMemory;
import graft.remoting.server.pool.WorkerEnvironment;
import graft.remoting.server.system.ListenAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The settings of a server, made by {@link #builder}.
 *
 * @param listen the addresses that clients connect to, at least one
 * @param tokens the file of the names that may have a session ({@code NAME TOKEN [memory=BYTES]
 *     [device=INDEX]}, mode 0600); empty if clients are not authenticated
 * @param certificates the folder of the certificates by which nodes authenticate, in libvirt's
 *     layout; empty if the server takes tokens only
 * @param device the device of sessions whose token names none
 * @param limits the limits of each session and of the sessions of each guest together; a token may
 *     name another limit of device memory
 * @param audit where audit events go
 * @param accounts where the accounts of sessions go that have ended
 * @param spares the number of spare workers to keep ready
 * @param spareContexts whether a worker has a context, and its code is warm, before it gets a
 *     session
 * @param maxSessions the largest number of sessions at one time
 * @param maxGuestSessions the largest number of sessions of one guest at one time
 * @param queueTimeout how long a client may wait for a place while the server or its guest has all
 *     its sessions; zero if such a client is refused
 * @param watchdog how long a session's work may go on after its turn while other guests want the
 *     device; zero for any time
 * @param metrics the address of the metrics endpoint, a Unix socket or a loopback address
 * @param operator the socket for operators ({@link graft.remoting.server.operate}), in a folder
 *     that only the server's user can enter
 * @param runtimeFolder the folder for the private socket, created with mode 0700; a temporary
 *     folder if empty
 * @param handshakeLimit the time within which a connection must authenticate
 * @param maxHandshakes the largest number of connections that have not authenticated yet
 * @param spinMicros how long a worker polls for the next record before it sleeps, in microseconds
 * @param rdmaPorts the ports that rdma uses, written as the client's {@code rdma-ports}; if empty,
 *     UCX chooses them
 * @param keptData the most bytes of clients' data that the server keeps so that their next sessions
 *     need not send it again; half of them of one name
 * @param sensors whether guests see the temperature, power, clocks and PCIe traffic of the whole
 *     GPU
 * @param workerOptions further options for the workers' Java runtime
 * @param jail how workers are confined
 * @param starter the socket of the graft-starter that starts workers and confines them; empty if
 *     the server does that itself
 * @param arbiters the folder in which servers of one user find each other, so that a GPU that
 *     several of them serve has one arbiter; empty if this server keeps the shares of its own
 *     guests only
 * @param peers the addresses of other servers to which sessions may be connected, for copies
 *     between their devices
 */
public record ServerConfig(
    List<ListenAddress> listen,
    Optional<Path> tokens,
    Optional<Path> certificates,
    DeviceSpec device,
    SessionLimits limits,
    AuditLog audit,
    AuditLog accounts,
    int spares,
    boolean spareContexts,
    int maxSessions,
    int maxGuestSessions,
    Duration queueTimeout,
    Duration watchdog,
    Optional<ListenAddress> metrics,
    Optional<Path> operator,
    Optional<Path> runtimeFolder,
    Duration handshakeLimit,
    int maxHandshakes,
    int spinMicros,
    List<String> rdmaPorts,
    long keptData,
    boolean sensors,
    List<String> workerOptions,
    JailConfig jail,
    Optional<Path> starter,
    Optional<Path> arbiters,
    List<ListenAddress> peers) {
  /** The buffers of one context's copies. */
  private static final long LEAST_HOST_MEMORY = 64L << 20;

  /** Checks that the settings are in range. */
  public ServerConfig {
    listen = List.copyOf(listen);
    rdmaPorts = List.copyOf(rdmaPorts);
    workerOptions = List.copyOf(workerOptions);
    peers = List.copyOf(peers);
    if (listen.isEmpty()) {
      throw new IllegalArgumentException("a server needs an address to listen at");
    }
    if (certificates.isPresent() && tokens.isEmpty()) {
      throw new IllegalArgumentException(
          "a server with certificates needs a tokens file, which names those that may connect");
    }
    if (spares < 0
        || maxSessions < 1
        || maxGuestSessions < 1
        || maxHandshakes < 1
        || spinMicros < 0
        || keptData < 0
        || queueTimeout.isNegative()
        || watchdog.isNegative()) {
      throw new IllegalArgumentException("spares, limits and times must not be negative");
    }
    if (peers.stream().anyMatch(ListenAddress.Vsock.class::isInstance)) {
      throw new IllegalArgumentException("a peer needs a TCP or Unix address");
    }
    if (isTooSmall(limits.hostMemory()) || isTooSmall(limits.guestHostMemory())) {
      throw new IllegalArgumentException("a session needs 64 MiB of host memory for its copies");
    }
  }

  private static boolean isTooSmall(long hostMemory) {
    return hostMemory != 0 && hostMemory < LEAST_HOST_MEMORY;
  }

  /**
   * Returns a builder with the default settings.
   *
   * @param tokens the tokens file
   * @param device the device of sessions
   */
  public static Builder builder(Path tokens, DeviceSpec device) {
    return new Builder(Optional.of(tokens), device);
  }

  /** Returns a builder of a server that does not authenticate its clients. */
  public static Builder withoutTokens(DeviceSpec device) {
    return new Builder(Optional.empty(), device);
  }

  /** Builds a {@link ServerConfig}. */
  public static final class Builder {
    private final Optional<Path> tokens;
    private final DeviceSpec device;
    private final java.util.ArrayList<ListenAddress> listen = new java.util.ArrayList<>();
    private Optional<Path> certificates = Optional.empty();
    private SessionLimits limits =
        new SessionLimits(0, MachineMemory.bytes() / 4, 0, MachineMemory.bytes() / 2, 0);
    private AuditLog audit = AuditLog.none();
    private AuditLog accounts = AuditLog.none();
    private int spares = 1;
    private boolean spareContexts = true;
    private int maxSessions = 64;
    private int maxGuestSessions = Integer.MAX_VALUE;
    private Duration queueTimeout = Duration.ZERO;
    private Duration watchdog = Duration.ZERO;
    private Optional<ListenAddress> metrics = Optional.empty();
    private Optional<Path> operator = Optional.empty();
    private Optional<Path> runtimeFolder = Optional.empty();
    private Duration handshakeLimit = Duration.ofSeconds(5);
    private int maxHandshakes = 64;
    private int spinMicros = Runtime.getRuntime().availableProcessors() > 2 ? 50 : 0;
    private List<String> rdmaPorts = List.of();
    private long keptData = Math.min(1L << 30, MachineMemory.bytes() / 8);
    private boolean sensors = !"off".equals(System.getenv(WorkerEnvironment.SENSORS));
    private List<String> workerOptions = List.of();
    private JailConfig jail = JailConfig.defaults();
    private Optional<Path> starter = Optional.empty();
    private Optional<Path> arbiters = Optional.empty();
    private List<ListenAddress> peers = List.of();

    private Builder(Optional<Path> tokens, DeviceSpec device) {
      this.tokens = tokens;
      this.device = device;
    }

    /**
     * Lets nodes authenticate with certificates.
     *
     * @param folder the files in libvirt's layout, usually {@code /etc/pki}
     */
    public Builder certificates(Path folder) {
      certificates = Optional.of(folder);
      return this;
    }

    /** Adds an address to listen on. */
    public Builder listen(ListenAddress address) {
      listen.add(address);
      return this;
    }

    /** Sets the limit of device memory, in bytes, of sessions whose token names none. */
    public Builder memory(long bytes) {
      limits = limits.withMemory(bytes);
      return this;
    }

    /**
     * Sets the limits of each session and of each guest. By default a session may make its worker
     * hold a quarter of this machine's memory, and a guest half of it.
     */
    public Builder limits(SessionLimits value) {
      limits = value;
      return this;
    }

    /** Returns the limits that are set now. */
    public SessionLimits limits() {
      return limits;
    }

    /** Sets where the accounts of ended sessions go; by default they are dropped. */
    public Builder accounts(AuditLog log) {
      accounts = log;
      return this;
    }

    /** Sets where audit events go; by default they are dropped. */
    public Builder audit(AuditLog log) {
      audit = log;
      return this;
    }

    /** Sets the number of spare workers; the default is 1. */
    public Builder spares(int count) {
      spares = count;
      return this;
    }

    /** Sets whether a worker has a context before it gets a session; by default it has one. */
    public Builder spareContexts(boolean made) {
      spareContexts = made;
      return this;
    }

    /** Sets the largest number of sessions at one time; the default is 64. */
    public Builder maxSessions(int count) {
      maxSessions = count;
      return this;
    }

    /** Limits the sessions of one guest; by default a guest may have as many as the server. */
    public Builder maxGuestSessions(int count) {
      maxGuestSessions = count;
      return this;
    }

    /**
     * Lets a client wait for so long while the server or its guest has all its sessions; by default
     * such a client is refused.
     */
    public Builder queueTimeout(Duration limit) {
      queueTimeout = limit;
      return this;
    }

    /**
     * Sets how long a session's work may go on after its turn while other guests want the device;
     * the default is for any time.
     */
    public Builder watchdog(Duration limit) {
      watchdog = limit;
      return this;
    }

    /** Sets the address of the metrics endpoint; by default there is none. */
    public Builder metrics(ListenAddress address) {
      metrics = Optional.of(address);
      return this;
    }

    /** Sets the socket for operators; by default there is none. */
    public Builder operator(Path socket) {
      operator = Optional.of(socket);
      return this;
    }

    /** Sets the folder of the private socket. */
    public Builder runtimeFolder(Path folder) {
      runtimeFolder = Optional.of(folder);
      return this;
    }

    /** Sets the time within which a connection must authenticate; the default is 5 seconds. */
    public Builder handshakeLimit(Duration limit) {
      handshakeLimit = limit;
      return this;
    }

    /**
     * Sets the largest number of connections that have not authenticated yet; the default is 64.
     */
    public Builder maxHandshakes(int count) {
      maxHandshakes = count;
      return this;
    }

    /**
     * Sets how long a worker polls before it sleeps; the default is 50 us, and 0 on one or two
     * processors.
     */
    public Builder spinMicros(int micros) {
      spinMicros = micros;
      return this;
    }

    /** Restricts rdma to these ports: GUIDs, MAC addresses, or names such as mlx5_0:1. */
    public Builder rdmaPorts(List<String> ports) {
      rdmaPorts = ports;
      return this;
    }

    /**
     * Sets how many bytes of clients' data are kept; the default is 1 GiB, or an eighth of this
     * machine's memory if that is less.
     */
    public Builder keptData(long bytes) {
      keptData = bytes;
      return this;
    }

    /**
     * Sets whether guests see the sensors of the GPU; by default they do, unless the variable
     * {@code GRAFT_SENSORS} is {@code off}.
     */
    public Builder sensors(boolean shown) {
      sensors = shown;
      return this;
    }

    /** Sets how workers are confined; the default is as strictly as the host allows. */
    public Builder jail(JailConfig config) {
      jail = config;
      return this;
    }

    /** Has the graft-starter at this socket start the workers. */
    public Builder starter(Path socket) {
      starter = Optional.of(socket);
      return this;
    }

    /**
     * Shares the arbiters of GPUs with other servers that have this folder; only its owner enters.
     */
    public Builder arbiters(Path folder) {
      arbiters = Optional.of(folder);
      return this;
    }

    /** Lets sessions be connected to sessions of the servers at these addresses. */
    public Builder peers(List<ListenAddress> addresses) {
      peers = addresses;
      return this;
    }

    /** Adds options for the workers' Java runtime. */
    public Builder workerOptions(List<String> options) {
      workerOptions = options;
      return this;
    }

    /**
     * Builds the configuration.
     *
     * @throws IllegalArgumentException if a setting is out of range
     */
    public ServerConfig build() {
      return new ServerConfig(
          listen,
          tokens,
          certificates,
          device,
          limits,
          audit,
          accounts,
          spares,
          spareContexts,
          maxSessions,
          maxGuestSessions,
          queueTimeout,
          watchdog,
          metrics,
          operator,
          runtimeFolder,
          handshakeLimit,
          maxHandshakes,
          spinMicros,
          rdmaPorts,
          keptData,
          sensors,
          workerOptions,
          jail,
          starter,
          arbiters,
          peers);
    }
  }
}
