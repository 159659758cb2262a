package graft.cli.host;

import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.values.MemorySize;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A program of this machine and the server whose GPU it uses, as options of a command. */
public final class RemoteProgram {
  @ArgGroup(multiplicity = "1")
  Where where;

  /** The options that select the GPU. */
  static final class Where {
    @Option(
        names = "--server",
        paramLabel = "URL",
        description =
            "The server to use: an address at which it listens, or shm:///PATH for shared memory over"
                + " its Unix socket, rdma://HOST:PORT for UCX over its port. Given several times, the"
                + " program has the devices of all servers, in this order; --name and --token-file"
                + " are then given once for all servers or once for each.")
    List<ServerAddress> servers = List.of();

    @Option(
        names = "--device",
        paramLabel = "DEVICE",
        description = "Start a private server for software, gpu or gpu:N.")
    String device;
  }

  @Mixin ClientToken token;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The memory size of the device of --device.")
  MemorySize memory;

  @Parameters(
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "The program and its arguments, after --.")
  List<String> words;

  /** The program's name, without its folder. */
  public String program() {
    return Path.of(words.get(0)).getFileName().toString();
  }

  /**
   * Runs the program.
   *
   * @param settings further variables of its environment
   * @return its exit code
   * @throws GraftException if it cannot be started
   */
  public int run(Map<String, String> settings) throws IOException, InterruptedException {
    if (!where.servers.isEmpty()) {
      int count = where.servers.size();
      return run(addresses(), token.names(count), token.files(count), settings);
    }
    try (PrivateServer server = PrivateServer.start(where.device, memory)) {
      ServerAddress address = new ServerAddress(server.endpoint().toString());
      return run(address.toString(), PrivateServer.NAME, server.tokenFile(), settings);
    }
  }

  private String addresses() {
    return where.servers.stream()
        .map(ServerAddress::toString)
        .collect(Collectors.joining(ClientToken.BETWEEN_SERVERS));
  }

  /**
   * The variables by which NCCL finds a path between the GPUs of several servers: its kernels
   * cannot share the memory of a file, but its sockets work where servers and program share memory.
   */
  static Map<String, String> nccl(List<ServerAddress> servers) {
    boolean works =
        servers.size() > 1
            && servers.stream().allMatch(each -> each.toString().startsWith("shm://"));
    return works ? Map.of("NCCL_SHM_DISABLE", "1") : Map.of();
  }

  private int run(String server, String client, Path tokenFile, Map<String, String> settings)
      throws InterruptedException {
    List<String> command = new ArrayList<>(words);
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(settings);
    nccl(where.servers).forEach(builder.environment()::putIfAbsent);
    ProgramEnvironment.remote("server", ClientFolder.existing(), server, client, tokenFile)
        .applyTo(builder.environment());
    try {
      // Ctrl-C reaches the program too. The program decides how to react, and graft waits for its
      // end.
      return builder.start().waitFor();
    } catch (IOException e) {
      throw new GraftException(e.getMessage(), "", e);
    }
  }
}
