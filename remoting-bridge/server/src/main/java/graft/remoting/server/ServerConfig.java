package graft.remoting.server;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.system.ListenAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a server is to run. Made by {@link #builder}.
 *
 * @param listen where clients connect, at least one address
 * @param tokens the file of who may have a session ({@code NAME TOKEN [memory=BYTES]
 *     [device=INDEX]}, mode 0600); empty if anyone may who reaches the addresses
 * @param device which device sessions get whose token names none
 * @param memory the most device memory of one session whose token names no limit, in bytes
 * @param spares workers that are kept ready
 * @param maxSessions the most sessions at one time
 * @param maxGuestSessions the most sessions of one guest at one time
 * @param metrics where metrics are shown, a Unix socket or a loopback address
 * @param runtimeFolder the folder for the private socket, made with mode 0700; a temporary one if
 *     empty
 * @param handshakeLimit how long a stranger may take to authenticate
 * @param maxHandshakes the most connections that are not authenticated yet
 * @param spinMicros how long a worker polls for the next record before it sleeps, in microseconds
 * @param rdmaPorts the ports that rdma goes by, as the client's {@code rdma-ports} has them; those
 *     that UCX likes if empty
 * @param workerOptions further options of the workers' Java runtime
 * @param jail how workers are confined
 */
public record ServerConfig(
    List<ListenAddress> listen,
    Optional<Path> tokens,
    DeviceSpec device,
    OptionalLong memory,
    int spares,
    int maxSessions,
    int maxGuestSessions,
    Optional<ListenAddress> metrics,
    Optional<Path> runtimeFolder,
    Duration handshakeLimit,
    int maxHandshakes,
    int spinMicros,
    List<String> rdmaPorts,
    List<String> workerOptions,
    JailConfig jail) {

  /** Checks the numbers. */
  public ServerConfig {
    listen = List.copyOf(listen);
    rdmaPorts = List.copyOf(rdmaPorts);
    workerOptions = List.copyOf(workerOptions);
    if (listen.isEmpty()) {
      throw new IllegalArgumentException("a server needs an address to listen at");
    }
    if (spares < 0
        || maxSessions < 1
        || maxGuestSessions < 1
        || maxHandshakes < 1
        || spinMicros < 0) {
      throw new IllegalArgumentException("spares, limits and times must not be negative");
    }
  }

  /**
   * A server with the usual settings.
   *
   * @param tokens the tokens file
   * @param device the device of sessions
   */
  public static Builder builder(Path tokens, DeviceSpec device) {
    return new Builder(Optional.of(tokens), device);
  }

  /** A server for anyone who reaches its addresses: nobody has to prove who he is. */
  public static Builder withoutTokens(DeviceSpec device) {
    return new Builder(Optional.empty(), device);
  }

  /** Collects settings. */
  public static final class Builder {
    private final Optional<Path> tokens;
    private final DeviceSpec device;
    private final java.util.ArrayList<ListenAddress> listen = new java.util.ArrayList<>();
    private OptionalLong memory = OptionalLong.empty();
    private int spares = 1;
    private int maxSessions = 64;
    private int maxGuestSessions = Integer.MAX_VALUE;
    private Optional<ListenAddress> metrics = Optional.empty();
    private Optional<Path> runtimeFolder = Optional.empty();
    private Duration handshakeLimit = Duration.ofSeconds(5);
    private int maxHandshakes = 64;
    private int spinMicros = Runtime.getRuntime().availableProcessors() > 2 ? 50 : 0;
    private List<String> rdmaPorts = List.of();
    private List<String> workerOptions = List.of();
    private JailConfig jail = JailConfig.defaults();

    private Builder(Optional<Path> tokens, DeviceSpec device) {
      this.tokens = tokens;
      this.device = device;
    }

    /** Adds an address to listen at. */
    public Builder listen(ListenAddress address) {
      listen.add(address);
      return this;
    }

    /** Limits the device memory of a session, in bytes. */
    public Builder memory(long bytes) {
      memory = OptionalLong.of(bytes);
      return this;
    }

    /** Keeps so many workers ready; 1 if not said. */
    public Builder spares(int count) {
      spares = count;
      return this;
    }

    /** Allows so many sessions at one time; 64 if not said. */
    public Builder maxSessions(int count) {
      maxSessions = count;
      return this;
    }

    /** Allows one guest so many sessions at one time; as many as the server has if not said. */
    public Builder maxGuestSessions(int count) {
      maxGuestSessions = count;
      return this;
    }

    /** Shows metrics; off if not said. */
    public Builder metrics(ListenAddress address) {
      metrics = Optional.of(address);
      return this;
    }

    /** Sets the folder of the private socket. */
    public Builder runtimeFolder(Path folder) {
      runtimeFolder = Optional.of(folder);
      return this;
    }

    /** Limits the time to authenticate; 5 seconds if not said. */
    public Builder handshakeLimit(Duration limit) {
      handshakeLimit = limit;
      return this;
    }

    /** Limits the connections that are not authenticated yet; 64 if not said. */
    public Builder maxHandshakes(int count) {
      maxHandshakes = count;
      return this;
    }

    /**
     * Sets how long a worker polls before it sleeps; 50 us if not said, 0 on one or two processors.
     */
    public Builder spinMicros(int micros) {
      spinMicros = micros;
      return this;
    }

    /** Has rdma go by these ports: GUIDs, MACs or names such as mlx5_0:1. */
    public Builder rdmaPorts(List<String> ports) {
      rdmaPorts = ports;
      return this;
    }

    /** Confines workers so; as well as the machine can if not said. */
    public Builder jail(JailConfig config) {
      jail = config;
      return this;
    }

    /** Adds options of the workers' Java runtime. */
    public Builder workerOptions(List<String> options) {
      workerOptions = options;
      return this;
    }

    /**
     * The settings.
     *
     * @throws IllegalArgumentException when they make no sense
     */
    public ServerConfig build() {
      return new ServerConfig(
          listen,
          tokens,
          device,
          memory,
          spares,
          maxSessions,
          maxGuestSessions,
          metrics,
          runtimeFolder,
          handshakeLimit,
          maxHandshakes,
          spinMicros,
          rdmaPorts,
          workerOptions,
          jail);
    }
  }
}
