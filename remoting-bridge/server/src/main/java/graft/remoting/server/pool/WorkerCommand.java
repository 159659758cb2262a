package graft.remoting.server.pool;

import graft.common.disk.PrivateFiles;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.mps.Mps;
import graft.remoting.server.profile.Cupti;
import graft.remoting.server.system.AddressRange;
import graft.remoting.server.transport.Ucx;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command that starts a worker's process: this Java runtime and class path with a small heap.
 * Neither the arguments nor the environment contain a secret; what a session needs is sent over the
 * private socket.
 */
public final class WorkerCommand implements WorkerStarter {
  private static final List<String> SMALL =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:-UsePerfData",
          "-Xms8m",
          // This bounds the Java memory that a client can make the server keep; a session that
          // needs more ends.
          "-Xmx512m",
          "-XX:+ExitOnOutOfMemoryError",
          "-XX:-CreateCoredumpOnCrash",
          "-Xss512k",
          "-XX:MinHeapFreeRatio=10",
          "-XX:MaxHeapFreeRatio=30",
          "-Xshare:auto",
          "-XX:+DisableAttachMechanism",
          // Java 17 would map the class archive at a fixed address, which would tell an attacker
          // inside a worker where code lies. At another address its pages are private to each
          // worker, 6 MB each.
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=1",
          // Optimized code holds every branch, also those that have not been taken yet. Otherwise
          // the first call of a kind that the warm-up does not make drops the code of all calls,
          // and the next tens of thousands take a microsecond or two longer.
          "-XX:PerMethodTrapLimit=0",
          "-XX:PerBytecodeTrapLimit=0");

  /**
   * Programs on the software device are short. Without Java's second compiler, their code is
   * compiled in two thirds of the time and a worker needs 20 MB less; kernels that run for more
   * than about 3 seconds become slower.
   */
  private static final String SHORT = "-XX:TieredStopAtLevel=1";

  private static final String TEMPORARY = System.getProperty("java.io.tmpdir");

  /** The descriptor by which a worker in a jail is already connected to the server. */
  private static final int CONNECTED = 3;

  private final Class<?> main;
  private final WorkerJail jail;
  private final Path folder;
  private final int spinMicros;
  private final String rdmaPorts;
  private final boolean sensors;
  private final boolean contexts;
  private final List<String> options;
  private final Path pipes;

  /**
   * Creates the command.
   *
   * @param main the worker's main class
   * @param jail how workers are confined
   * @param folder the server's own folder, with the private socket that workers connect to
   * @param spinMicros how long a worker polls for the next record before it sleeps
   * @param rdmaPorts the ports that rdma uses; if empty, UCX chooses them
   * @param sensors whether guests see the sensors of the whole GPU
   * @param contexts whether a worker has a context before it gets a session
   * @param options further options for the Java runtime
   */
  public WorkerCommand(
      Class<?> main,
      WorkerJail jail,
      Path folder,
      int spinMicros,
      List<String> rdmaPorts,
      boolean sensors,
      boolean contexts,
      List<String> options) {
    this.main = main;
    this.jail = jail;
    this.folder = folder;
    this.spinMicros = spinMicros;
    this.rdmaPorts = String.join(",", rdmaPorts);
    this.sensors = sensors;
    this.contexts = contexts;
    this.options = List.copyOf(options);
    this.pipes = folder.resolve("mps");
  }

  /** Returns the path of the private socket in the server's own folder. */
  public static Path socket(Path folder) {
    return folder.resolve("workers.sock");
  }

  @Override
  public Isolation isolation() {
    return jail.isolation();
  }

  @Override
  public WorkerProcess start(WorkerKind kind) throws IOException {
    ProcessBuilder builder = new ProcessBuilder();
    builder.redirectInput(new File("/dev/null"));
    // Java prints there why it ends a process that crashes, and MPS its log.
    builder.redirectErrorStream(true);
    Map<String, String> inherited = Map.copyOf(builder.environment());
    builder.environment().clear();
    builder.environment().putAll(environment(kind, inherited));
    Optional<Path> shared = pipes(kind);
    shared.ifPresent(path -> builder.environment().put(Mps.PIPES, path.toString()));
    List<String> options = jail.enter(kind, socket(folder), inherited, shared);
    builder.command(new ArrayList<>(options));
    builder.command().addAll(arguments(kind, !options.isEmpty()));
    Process process = builder.start();
    return new LocalProcess(process, process.getInputStream());
  }

  private Path daemon() {
    return jail.config().mps().orElseThrow();
  }

  /** The folder that workers and MPS share; with a graft-starter it has another one. */
  private Optional<Path> pipes(WorkerKind kind) throws IOException {
    if (!jail.config().usesMps()) {
      return Optional.empty();
    }
    if (kind.isMps()) { // which starts before all workers
      PrivateFiles.deleteFolder(pipes);
      PrivateFiles.makeFolder(pipes);
    }
    return Optional.of(pipes);
  }

  @Override
  public void serves() {}

  @Override
  public void close() throws IOException {
    PrivateFiles.deleteFolder(pipes);
  }

  /**
   * Returns a worker's environment.
   *
   * @param inherited the environment of the process that starts the worker
   */
  Map<String, String> environment(WorkerKind kind, Map<String, String> inherited) {
    Map<String, String> environment = new TreeMap<>(inherited);
    if (jail.hasRoot() || kind.isMps()) {
      WorkerEnvironment.restrict(environment);
    }
    if (kind.isMps()) {
      return Mps.environment(environment, daemon());
    }
    if (jail.config().usesMps()) {
      Mps.removeFrom(environment);
    }
    showDevice(kind.device(), jail.visible(kind, inherited), environment);
    if (!rdmaPorts.isEmpty()) {
      environment.put(Ucx.PORTS, rdmaPorts);
    }
    if (kind.addresses() != AddressRange.ANY) {
      environment.put(AddressRange.VARIABLE, Integer.toString(kind.addresses()));
    }
    if (kind.connections() != 0) {
      environment.put(WorkerEnvironment.CONNECTIONS, Integer.toString(kind.connections()));
    }
    environment.put(WorkerEnvironment.SENSORS, sensors ? "on" : "off");
    environment.remove(Cupti.VARIABLE);
    jail.config().profiler().ifPresent(path -> environment.put(Cupti.VARIABLE, path.toString()));
    // Each arena of the C library's allocator keeps megabytes of its own.
    environment.putIfAbsent("MALLOC_ARENA_MAX", "1");
    return environment;
  }

  /**
   * Returns the command line of the worker itself, or of MPS.
   *
   * @param isConnected whether the process starts with a connection to the server
   */
  public List<String> arguments(WorkerKind kind, boolean isConnected) {
    if (kind.isMps()) {
      return List.of(daemon().toString(), Mps.IN_FOREGROUND);
    }
    DeviceSpec device = kind.device();
    List<String> arguments = new ArrayList<>();
    arguments.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    arguments.addAll(SMALL);
    String temporary = jail.hasRoot() ? "/tmp" : TEMPORARY;
    arguments.add("-XX:ErrorFile=" + Path.of(temporary, "graft-worker-%p.log"));
    jail.libraries().ifPresent(libraries -> addLibraries(arguments, libraries));
    Properties properties = System.getProperties();
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith("org.slf4j.simpleLogger.")
          || (name.startsWith("jna.") && jail.libraries().isEmpty())) {
        arguments.add("-D" + name + "=" + properties.getProperty(name));
      }
    }
    if (device.kind().equals(DeviceSpec.SOFTWARE)) {
      arguments.add(SHORT);
    }
    arguments.addAll(options);
    arguments.add("-cp");
    arguments.add(
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(element -> Path.of(element).toAbsolutePath().toString())
            .collect(Collectors.joining(File.pathSeparator)));
    arguments.add(main.getName());
    arguments.add(isConnected ? Integer.toString(CONNECTED) : socket(folder).toString());
    arguments.add(device.toString());
    arguments.add(Integer.toString(spinMicros));
    arguments.add(Boolean.toString(contexts));
    return arguments;
  }

  private static void addLibraries(List<String> arguments, Path libraries) {
    arguments.add("-Djna.boot.library.path=" + libraries);
    String others = System.getProperty("jna.library.path");
    arguments.add(
        "-Djna.library.path=" + libraries + (others == null ? "" : File.pathSeparator + others));
  }

  /**
   * Makes only the GPU of that index visible to the process, as its device 0, so that a session
   * cannot access another GPU. If the server's own environment lists the visible GPUs, the index
   * counts in that list.
   *
   * @param name the GPU's own name, if it is known
   */
  static void showDevice(
      DeviceSpec device, Optional<String> name, Map<String, String> environment) {
    if (name.isPresent()) {
      environment.put("CUDA_VISIBLE_DEVICES", name.get());
      return;
    }
    if (device.index().isEmpty()) {
      return;
    }
    int index = device.index().getAsInt();
    String visible = environment.get("CUDA_VISIBLE_DEVICES");
    if (visible == null) {
      environment.putIfAbsent("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
      environment.put("CUDA_VISIBLE_DEVICES", Integer.toString(index));
    } else {
      String[] devices = visible.split(",", -1);
      // The index is not in the list. "-1" makes no device visible, and the worker reports that
      // there is none.
      environment.put(
          "CUDA_VISIBLE_DEVICES", index < devices.length ? devices[index].strip() : "-1");
    }
  }

  /** A worker that is a child of the server. */
  private record LocalProcess(Process process, InputStream log) implements WorkerProcess {

    @Override
    public long pid() {
      return process.pid();
    }

    @Override
    public Optional<ControlSocket> control() {
      return Optional.empty();
    }

    @Override
    public boolean isAlive() {
      return process.isAlive();
    }

    /** Only root can give a worker another /dev/shm. */
    @Override
    public void share(long guest) {}

    @Override
    public void kill() {
      process.destroyForcibly();
    }

    @Override
    public OptionalInt awaitEnd(Duration limit) throws InterruptedException {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)
          ? OptionalInt.of(process.exitValue())
          : OptionalInt.empty();
    }
  }
}
