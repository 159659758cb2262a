package graft.deployment.step.host;

import static java.nio.charset.StandardCharsets.UTF_8;

import graft.common.audit.RotatedFile;
import graft.common.disk.PrivateFiles;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerProcess;
import graft.deployment.step.Await;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.bundle.ServerViews;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Starts the server of a GPU that the host owns, as a process of its own.
 *
 * @param options more options of {@code graft serve}
 */
public record StartServer(
    String gpu,
    List<Endpoint> listen,
    String device,
    Optional<MemorySize> memory,
    int spare,
    List<PortName> rdmaPorts,
    Path tokens,
    Path pidFile,
    Path log,
    List<String> options)
    implements HostServer {
  /**
   * The time limit for a server that hangs; a server that cannot serve ends with an error. Healthy
   * servers can need more than a minute on a busy emulated host.
   */
  static final Await READY = new Await(Duration.ofMinutes(10), Duration.ofMillis(50));

  /** The option of {@code graft serve} that names a log whose size is limited. */
  static final String ROTATED_LOG = "--log";

  /** The option of {@code graft serve} that names NVIDIA's profiling library. */
  public static final String PROFILER_LIBRARY = "--profiler-library";

  /** The longest path of a Unix socket, in bytes (unix(7)). */
  private static final int LONGEST_SOCKET = 107;

  /** The lines of a log that an error shows. */
  static final int LOG_LINES = 20;

  private static final int LOG_BYTES = 16 << 10;

  @Override
  public Chain chain() {
    return Chain.server(gpu);
  }

  @Override
  public String name() {
    return "server";
  }

  @Override
  public String describe() {
    String where = listen.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
    return "start its server at " + where + " (device " + device + rdma() + profiler() + ")";
  }

  private String rdma() {
    return rdmaPorts.isEmpty() ? "" : ", rdma by " + PortName.list(rdmaPorts);
  }

  private String profiler() {
    int at = options.indexOf(PROFILER_LIBRARY);
    return at < 0 ? "" : ", profiling library " + options.get(at + 1);
  }

  @Override
  public Path operator() {
    return socket("operator");
  }

  private Path metrics() {
    return socket("metrics");
  }

  private Path socket(String what) {
    String name = pidFile.getFileName().toString().replaceFirst("\\.pid$", "");
    return pidFile.resolveSibling(name + "." + what + ".sock");
  }

  @Override
  public ServerLog printed() {
    return ServerLog.file(log);
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.servers().contains(pidFile);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws Exception {
    Optional<ProcessHandle> running = ServerProcess.find(pidFile);
    if (running.isPresent()) {
      ServerProcess.stop(pidFile); // a server of an interrupted run, which may not listen yet
    }
    if (!Files.exists(tokens)) {
      PrivateFiles.write(tokens, new byte[0]);
    }
    PrivateFiles.write(log, new byte[0]);
    Process process =
        program()
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectErrorStream(true)
            .start();
    awaitListening(process::isAlive, READY, this, () -> end(log), context);
    return Map.of("pid", process.pid());
  }

  /**
   * Waits until the server serves; fails as soon as it has ended.
   *
   * @param step the step whose progress is shown
   * @param log returns the end of the server's log
   */
  void awaitListening(
      BooleanSupplier isAlive, Await ready, Step step, Callable<String> log, StepContext context)
      throws Exception {
    Await.Outcome outcome =
        ready.until(
            () -> {
              if (!isAlive.getAsBoolean()) {
                return Await.Answer.NEVER;
              }
              return answers() ? Await.Answer.YES : Await.Answer.NOT_YET;
            },
            seconds -> context.progress(step, "waiting for it to listen, " + seconds + " s"),
            context::isStopping);
    if (outcome != Await.Outcome.READY) {
      String said = log.call().indent(4).stripTrailing();
      throw new StepFailure(
          "the server of '"
              + gpu
              + "' "
              + (outcome == Await.Outcome.FAILED
                  ? "ended before it listened"
                  : "runs, but does not listen after " + ready.timeout().toSeconds() + " s")
              + (said.isEmpty() ? ", and its log is empty" : "; the end of its log:\n" + said),
          said.isEmpty()
              ? "make sure that there is space on the disk of its log, then apply again"
              : "fix what the message names, then apply again");
    }
  }

  /** The server's command, with the CUDA devices that it may use. */
  ProcessBuilder program() {
    // A session of its own, so that Ctrl-C in this terminal does not end the server.
    List<String> command = new ArrayList<>(List.of("setsid"));
    List<String> arguments = arguments();
    arguments.addAll(
        List.of(
            ServerProcess.PID_FILE,
            pidFile.toString(),
            ROTATED_LOG,
            log.toString(),
            ServerViews.OPERATOR,
            hasRoom(operator()) ? operator().toString() : ServerViews.OFF));
    arguments.addAll(ServerViews.on(options, Optional.of(metrics()).filter(StartServer::hasRoom)));
    command.addAll(GraftCommand.serve(arguments));
    ProcessBuilder program = new ProcessBuilder(command);
    if (isMig()) {
      program.environment().put("CUDA_VISIBLE_DEVICES", device);
    }
    return program;
  }

  /** Whether a socket can have this path. */
  private static boolean hasRoom(Path socket) {
    return socket.toString().getBytes(UTF_8).length <= LONGEST_SOCKET;
  }

  /** The arguments of {@code graft serve}, without a pid file. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    for (Endpoint endpoint : listen) {
      arguments.addAll(List.of("--listen", endpoint.toString()));
    }
    arguments.addAll(List.of("--tokens", tokens.toString(), "--device", isMig() ? "gpu" : device));
    memory.ifPresent(m -> arguments.addAll(List.of("--memory", m.toString())));
    arguments.addAll(List.of("--spare", String.valueOf(spare)));
    if (!rdmaPorts.isEmpty()) {
      arguments.addAll(List.of("--rdma-ports", PortName.list(rdmaPorts)));
    }
    arguments.addAll(options);
    return arguments;
  }

  /** CUDA shows a MIG instance only to a process that names it, and then as its only device. */
  boolean isMig() {
    return device.startsWith("MIG-");
  }

  /**
   * The server writes its pid file once it serves; the connections show that the ports are its own.
   */
  private boolean answers() {
    return ServerProcess.recorded(pidFile).isPresent()
        && listen.stream().allMatch(StartServer::accepts);
  }

  private static boolean accepts(Endpoint endpoint) {
    if (endpoint.isVsock()) {
      return true; // only guests connect to the host's address
    }
    if (endpoint.isUnix()) {
      return Files.exists(Path.of(endpoint.path()));
    }
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(endpoint.host(), endpoint.port()), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The last lines of a log, or why it cannot be read. */
  static String end(Path log) {
    ByteBuffer read = ByteBuffer.allocate(LOG_BYTES);
    try (FileChannel in = ServerLog.open(log)) {
      in.position(Math.max(0, in.size() - LOG_BYTES));
      while (in.read(read) > 0) {
        // until the end
      }
    } catch (IOException e) {
      return "(cannot read " + log + ": " + e.getMessage() + ")";
    }
    List<String> lines = UTF_8.decode(read.flip()).toString().lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }

  @Override
  public void stop() throws IOException, InterruptedException {
    ServerProcess.stop(pidFile);
    for (Path socket : List.of(operator(), metrics())) {
      PrivateFiles.delete(socket); // which a server that was killed leaves behind
      PrivateFiles.delete(socket.resolveSibling(socket.getFileName() + ".lock"));
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws Exception {
    stop();
    PrivateFiles.delete(tokens);
    for (Path part : RotatedFile.parts(log)) {
      PrivateFiles.delete(part);
    }
  }
}
