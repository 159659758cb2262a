package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** {@code graft serve} as built, with the software device and a token for one client. */
final class SoftwareServer {
  static final String GRAFT = Checkout.HOME.resolve("bin/graft").toString();
  static final String NAME = "me";
  static final String TOKEN = "5a".repeat(32);

  /** A name with the same token that may use 32 MiB of GPU memory. */
  static final String LIMITED = "limited";

  private final Path folder;
  private final Process process;
  private final String address;

  private SoftwareServer(Path folder, Process process, String address) {
    this.folder = folder;
    this.process = process;
    this.address = address;
  }

  /** Starts a server at these addresses that keeps its log and its tokens in the folder. */
  static SoftwareServer start(Path folder, String... addresses) throws IOException {
    return start(folder, 1, addresses);
  }

  /** Starts a server with this number of devices. */
  static SoftwareServer start(Path folder, int devices, String... addresses) throws IOException {
    return start(folder, with(devices), List.of(), addresses);
  }

  /** Starts a server with further options and this environment. */
  static SoftwareServer start(
      Path folder, Map<String, String> environment, List<String> options, String... addresses)
      throws IOException {
    String grants = NAME + " " + TOKEN + "\n" + LIMITED + " " + TOKEN + " memory=33554432";
    return start(folder, grants, environment, options, addresses);
  }

  /**
   * Starts a server whose client has a file as memory that it shares with the server, as a guest
   * has it: the channel ivshmem. Operators ask it by {@code operator.sock} in the folder.
   */
  static SoftwareServer sharing(
      Path folder, int devices, GuestRegionFile region, String... addresses) throws IOException {
    String grant = NAME + " " + TOKEN + " region=" + region.file();
    List<String> operator = List.of("--operator", folder.resolve("operator.sock").toString());
    return start(folder, grant, with(devices), operator, addresses);
  }

  private static Map<String, String> with(int devices) {
    return Map.of("GRAFT_SOFTWARE_DEVICES", String.valueOf(devices));
  }

  private static SoftwareServer start(
      Path folder,
      String grants,
      Map<String, String> environment,
      List<String> options,
      String... addresses)
      throws IOException {
    List<String> words = new ArrayList<>(List.of(GRAFT, "serve"));
    words.addAll(options);
    for (String address : addresses) {
      words.addAll(List.of("--listen", address));
    }
    Path tokens = secret(folder.resolve("tokens"), grants);
    words.addAll(List.of("--tokens", tokens.toString(), "--device", "software"));
    Path log = folder.resolve("server.log");
    ProcessBuilder builder = new ProcessBuilder(words).redirectError(log.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    BufferedReader out = process.inputReader();
    String line = out.readLine();
    assertThat(line).as(Files.readString(log)).startsWith("serves at ");
    return new SoftwareServer(folder, process, line.substring("serves at ".length()));
  }

  /** Starts a server at an address for each channel of one machine: see {@link #over}. */
  static SoftwareServer forAllChannels(Path folder) throws IOException {
    return start(folder, "tcp://127.0.0.1:0", "unix://" + folder.resolve("socket"));
  }

  /**
   * The address by which the client uses a channel: shm or unix by the socket, tcp, rdma or ivshmem
   * by the server's first address.
   */
  String over(String channel) {
    boolean bySocket = channel.equals("shm") || channel.equals("unix");
    return bySocket
        ? channel + "://" + folder.resolve("socket")
        : address.replaceFirst("^tcp", channel);
  }

  /** The first address of the server. */
  String address() {
    return address;
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("server.log"));
  }

  /** The processes of sessions and of spares. */
  Set<ProcessHandle> workers() {
    return process
        .descendants()
        .filter(child -> !child.info().command().orElse("").endsWith("/graft-starter"))
        .collect(Collectors.toSet());
  }

  /** Kills the sessions, as if the machine had run out of memory. */
  void killSessions() {
    workers().forEach(ProcessHandle::destroyForcibly);
  }

  /** A command that runs a program on this server. */
  List<String> command(List<String> program) throws IOException {
    return command(folder, address, NAME, TOKEN, program);
  }

  /** A command that runs a program on a server, with the token in the folder. */
  static List<String> command(
      Path folder, String address, String name, String token, List<String> program)
      throws IOException {
    Path file = secret(folder.resolve("token"), token);
    List<String> words = new ArrayList<>(List.of(GRAFT, "run", "--server", address));
    words.addAll(List.of("--name", name, "--token-file", file.toString(), "--"));
    words.addAll(program);
    return words;
  }

  /**
   * The environment in which a program finds the client, and the client finds this server at that
   * address.
   */
  Map<String, String> environment(String there) throws IOException {
    return Map.of(
        "GRAFT_SERVER",
        there,
        "GRAFT_NAME",
        NAME,
        "GRAFT_TOKEN_FILE",
        secret(folder.resolve("token"), TOKEN).toString(),
        "LD_LIBRARY_PATH",
        Checkout.HOME.resolve("lib/client").toString());
  }

  /**
   * Builds a program of {@code src/test/c} into an empty folder, and runs it over a channel on a
   * server of its own.
   */
  static Finished run(Path folder, String program, String channel)
      throws IOException, InterruptedException {
    Programs.build(folder, List.of(program));
    SoftwareServer server = forAllChannels(folder);
    try {
      return Finished.run(
          folder,
          server.environment(server.over(channel)),
          List.of(folder.resolve(program).toString()));
    } finally {
      server.stop();
    }
  }

  /** Writes a file of mode 0600. */
  static Path secret(Path file, String text) throws IOException {
    Files.writeString(file, text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  void stop() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
