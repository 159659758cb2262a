package graft.comparison.local;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.grants.TokensFile;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.remoting.server.GraftServer;
import graft.remoting.server.ServerConfig;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A server in this process for programs that this process starts. It listens on a Unix socket in a
 * private folder and, on request, on loopback, and accepts only a token of its own. Closing the
 * server deletes its folder.
 */
public final class PrivateServer implements AutoCloseable {
  public static final String NAME = "local";

  /** The channels that {@link #url} accepts; {@code tls} is tcp, encrypted also on loopback. */
  static final List<String> CHANNELS = List.of("shm", "unix", "tcp", "tls", "rdma");

  private static final int MAX_SESSIONS = 128;

  /** The sessions of programs that have just ended keep their places until their workers end. */
  private static final Duration QUEUE_TIMEOUT = Duration.ofMinutes(1);

  /** Refuses a channel that is not one of {@link #CHANNELS}. */
  public static void checkChannel(String channel) {
    if (!CHANNELS.contains(channel)) {
      throw new GraftException(
          "'" + channel + "' is no channel", "choose from " + String.join(", ", CHANNELS));
    }
  }

  private final Path folder;
  private final GraftServer server;
  private final Thread hook = new Thread(this::stop);
  private boolean stopped;

  private PrivateServer(Path folder, GraftServer server) {
    this.folder = folder;
    this.server = server;
  }

  /** Starts a server on its Unix socket alone. */
  public static PrivateServer start(String device, MemorySize memory) throws IOException {
    return start(device, memory, false);
  }

  /** Starts a server on its Unix socket and, if {@code tcp} is set, on a free port of loopback. */
  public static PrivateServer start(String device, MemorySize memory, boolean tcp)
      throws IOException {
    Path folder = Files.createTempDirectory("graft-run"); // mode 0700
    try {
      String token = TokensFile.fresh();
      PrivateFiles.write(folder.resolve(NAME + ".token"), bytes(token + "\n"));
      PrivateFiles.write(folder.resolve("tokens"), bytes(NAME + " " + token + "\n"));
      ServerConfig.Builder config =
          ServerConfig.builder(folder.resolve("tokens"), ServedDevice.parse(device))
              .listen(new ListenAddress.Unix(folder.resolve("socket")))
              .runtimeFolder(folder.resolve("run"))
              .maxSessions(MAX_SESSIONS)
              .queueTimeout(QUEUE_TIMEOUT)
              .spares(1);
      if (memory != null) {
        config.memory(memory.bytes());
      }
      if (tcp) {
        config.listen(new ListenAddress.Tcp("127.0.0.1", 0));
      }
      PrivateServer started = new PrivateServer(folder, GraftServer.start(config.build()));
      Runtime.getRuntime().addShutdownHook(started.hook);
      return started;
    } catch (ServerException e) {
      PrivateFiles.deleteFolder(folder);
      throw new GraftException("the private server cannot start: " + e.getMessage(), "", e);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The server's address on loopback if it has one, else its Unix socket. */
  public Endpoint endpoint() {
    int last = server.addresses().size() - 1;
    return Endpoint.parse(server.addresses().get(last).toString());
  }

  /** The server's address in the client's form for one of {@link #CHANNELS}. */
  public String url(String channel) {
    return switch (channel) {
      case "unix", "shm" -> channel + "://" + folder.resolve("socket");
      case "tls" -> url("tcp");
      case "rdma" -> url("tcp").replaceFirst("^tcp", channel);
      default ->
          server.addresses().stream()
              .map(ListenAddress::toString)
              .filter(address -> address.startsWith(channel + "://"))
              .findFirst()
              .orElseThrow();
    };
  }

  /**
   * Replaces the guests. The server applies the shares, and ends the sessions of guests that are
   * not named any more, within half a second.
   *
   * @param settings by name, the settings that the guest's line of the tokens file has behind the
   *     token
   */
  public void guests(Map<String, String> settings) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (Map.Entry<String, String> guest : settings.entrySet()) {
      String token = TokensFile.fresh();
      PrivateFiles.write(tokenFile(guest.getKey()), bytes(token + "\n"));
      lines.append(guest.getKey() + " " + token + " " + guest.getValue() + "\n");
    }
    PrivateFiles.write(folder.resolve("tokens"), bytes(lines.toString()));
  }

  /** The environment of a guest's programs, which use the server over a channel. */
  public ProgramEnvironment environment(String guest, String channel, Path client) {
    return ProgramEnvironment.remote(channel, client, url(channel), guest, tokenFile(guest))
        .with("GRAFT_ENCRYPTION", channel.equals("tls") ? "always" : "auto");
  }

  /**
   * The environment of programs that use the server over one of {@link #CHANNELS}.
   *
   * @param client the folder of the client's libraries
   */
  public ProgramEnvironment environment(String channel, Path client) {
    return environment(NAME, channel, client);
  }

  public Path tokenFile() {
    return tokenFile(NAME);
  }

  private Path tokenFile(String guest) {
    return folder.resolve(guest + ".token");
  }

  private synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    server.close();
    try {
      PrivateFiles.deleteFolder(folder);
    } catch (IOException e) {
      System.err.println("graft run: cannot remove " + folder + ": " + e.getMessage());
    }
  }

  @Override
  public void close() {
    stop();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the hook is already running
    }
  }
}
