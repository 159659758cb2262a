package graft.remoting.server.jail;

import graft.common.program.CurrentUser;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jail of a server's workers: the options of {@code graft-jail}, which each of them is started
 * by. A worker is confined before its guest is known, so that whatever belongs to a guest is passed
 * to the worker as descriptors that the server opened.
 *
 * <p>A user without root builds jails in user namespaces. With root, {@code graft-starter} starts
 * workers: it adds a user and a cgroup of its own to each worker's options.
 */
public final class WorkerJail implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerJail.class);

  /**
   * The variable that names a log of the system calls that are not on the workers' lists. With a
   * log, these calls are allowed.
   */
  private static final String LOG_VARIABLE = "GRAFT_JAIL_LOG";

  /**
   * The variable that names parts of the jail to leave out, to find out which of them a driver does
   * not work with.
   */
  private static final String WITHOUT_VARIABLE = "GRAFT_JAIL_WITHOUT";

  /** The part that graft-starter adds. */
  private static final String LIMITS = "limits";

  /** The size of a worker's /tmp in bytes, for the driver's compute cache and a crash report. */
  private static final long TEMPORARY = 256L << 20;

  /** What one user may have of processes is for all workers together if they share one. */
  private static final int SHARING = 16;

  private static final int FILES = 4_096;
  private static final long LOCKED = 64L << 20;

  /** The parts that NVIDIA's MPS does not have: its control daemon starts another program. */
  private static final Set<String> NOT_MPS = Set.of("mounts", "seccomp", "guest-folder");

  private final JailProgram program;
  private final Isolation isolation;
  private final JailFolder files;
  private final JailOptions common;
  private final JailConfig config;
  private final Set<String> leftOut;
  private final NvidiaFiles nvidia = new NvidiaFiles(Path.of("/"));

  private WorkerJail(
      JailProgram program,
      Isolation isolation,
      JailFolder files,
      JailOptions common,
      JailConfig config,
      Set<String> leftOut) {
    this.program = program;
    this.isolation = isolation;
    this.files = files;
    this.common = common;
    this.config = config;
    this.leftOut = leftOut;
  }

  /**
   * Finds out which parts the host allows, and prepares them in a temporary folder that {@link
   * #close} removes.
   */
  public static WorkerJail open(JailConfig config) throws ServerException {
    try {
      return JailProgram.find().isEmpty()
          ? none("the program graft-jail is not there", config)
          : open(config, JailFolder.make(Path.of(System.getProperty("java.io.tmpdir"))));
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Does the same in a folder that stays, for a starter that outlives this process. */
  public static WorkerJail openIn(JailConfig config, Path folder) throws ServerException {
    try {
      return open(config, JailFolder.replace(folder));
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private static ServerException failure(IOException cause) {
    return new ServerException("cannot prepare the workers' jail: " + cause.getMessage(), cause);
  }

  private static WorkerJail open(JailConfig config, JailFolder files) throws IOException {
    JailProgram program =
        JailProgram.find().orElseThrow(() -> new IOException("there is no program graft-jail"));
    if (CurrentUser.isRoot()) {
      SubordinateUsers.overlap(Path.of("/etc"), config)
          .ifPresent(
              line ->
                  LOG.warn(
                      "containers may have the workers' users: {}; choose others (--worker-users)",
                      line));
    }
    JailOptions common = common(files);
    if (config.profiler().isPresent()) {
      common.addExisting(WorkerFiles.ofProfiler(config.profiler().get()));
    }
    Isolation isolation =
        program.check(new JailOptions(common).add("--user", config.firstUser()).list());
    String without = System.getenv().getOrDefault(WITHOUT_VARIABLE, "");
    Set<String> leftOut = without.isEmpty() ? Set.of() : Set.of(without.split(",", -1));
    for (String part : leftOut) {
      isolation = isolation.without(part, "left out by " + WITHOUT_VARIABLE);
    }
    return new WorkerJail(program, isolation, files, common, config, leftOut);
  }

  /** Returns a jail without any parts: workers run like the server. */
  public static WorkerJail none(String why) {
    return none(why, JailConfig.defaults());
  }

  private static WorkerJail none(String why, JailConfig config) {
    return new WorkerJail(null, Isolation.none(why), null, new JailOptions(), config, Set.of());
  }

  /** Returns whether workers have to be started by graft-starter, which needs root. */
  public boolean needsStarter() {
    return program != null && CurrentUser.isRoot();
  }

  private static JailOptions common(JailFolder files) throws IOException {
    WorkerFiles seen = WorkerFiles.ofThisRuntime();
    seen.add(files.libraries());
    return new JailOptions().add("--root", files.root()).add("--tmp", TEMPORARY).add(seen);
  }

  public Isolation isolation() {
    return isolation;
  }

  /** Returns whether workers have a file system of their own. */
  public boolean hasRoot() {
    return isolation.has("mounts");
  }

  /** Returns the folder into which the jars' native libraries are unpacked, if they are. */
  public Optional<Path> libraries() {
    return Optional.ofNullable(files).map(JailFolder::libraries);
  }

  /** Returns the program that becomes a worker in a jail. */
  public Path program() {
    return program.path();
  }

  /** Returns the program that starts workers. */
  public Path starter() {
    return program.path().resolveSibling("graft-starter");
  }

  /** Returns whether the operator wants the jail without that part, to measure. */
  public boolean leavesOut(String part) {
    return leftOut.contains(part);
  }

  public JailConfig config() {
    return config;
  }

  /** Returns the limit of a worker's memory, in bytes. */
  public long memory() {
    return config.memory().orElseGet(() -> MachineMemory.bytes() / 2);
  }

  /**
   * Returns the command that precedes a worker's own; empty without a jail.
   *
   * @param socket the socket that the worker is connected to
   * @param environment the worker's environment
   * @param pipes the folder of the pipes of NVIDIA's MPS, if the workers use it
   */
  public List<String> enter(
      WorkerKind kind, Path socket, Map<String, String> environment, Optional<Path> pipes) {
    if (program == null || isolation.parts().isEmpty()) {
      return List.of();
    }
    List<String> all = new ArrayList<>(List.of(program.path().toString()));
    if (!kind.isMps()) {
      all.addAll(commonOptions());
      all.addAll(List.of("--connect", socket.toString()));
    }
    all.addAll(List.of("--use", parts(kind)));
    pipes.ifPresent(folder -> all.addAll(List.of("--write", folder.toString())));
    all.addAll(options(kind, environment));
    all.addAll(optionsWithoutCgroup(kind));
    all.add("--");
    return all;
  }

  /** Returns the options of all jails. */
  public List<String> commonOptions() {
    return common.list();
  }

  /** Returns the options of the jails of one kind, besides those of all jails. */
  public List<String> options(WorkerKind kind, Map<String, String> environment) {
    JailOptions options = new JailOptions().add("--calls", calls(kind));
    String log = System.getenv(LOG_VARIABLE);
    if (log != null) {
      options.add("--log", log);
    }
    options
        .add("--limit", "core=0")
        .add("--limit", "nofile=" + FILES)
        .add("--limit", "nproc=" + (config.usesMps() ? SHARING : 1) * config.threads())
        .add("--limit", "memlock=" + (locksMemory(kind) ? memory() : LOCKED));
    if (isNvidia(kind)) {
      nvidia.makeNodes();
      options
          .addAll("--read", nvidia.readable())
          .addAll("--device", nvidia.nodes(gpu(kind, environment)));
    }
    if (kind.usesAdapter()) {
      AdapterFiles adapters = new AdapterFiles(environment);
      options.addAll("--read", adapters.readable()).addAll("--device", adapters.nodes());
    }
    return options.list();
  }

  /** Returns the options that limit a worker's memory where there are no cgroups. */
  public List<String> optionsWithoutCgroup(WorkerKind kind) {
    return isNvidia(kind) ? List.of() : new JailOptions().add("--limit", "data=" + memory()).list();
  }

  /** Returns the GPU that a worker is limited to, in the form of CUDA_VISIBLE_DEVICES. */
  public Optional<String> visible(WorkerKind kind, Map<String, String> environment) {
    return program == null || !isNvidia(kind) || kind.isMps()
        ? Optional.empty()
        : gpu(kind, environment).map(NvidiaFiles.Gpu::uuid);
  }

  private Optional<NvidiaFiles.Gpu> gpu(WorkerKind kind, Map<String, String> environment) {
    return kind.device().index().isPresent() && !environment.containsKey("CUDA_VISIBLE_DEVICES")
        ? nvidia.gpu(kind.device().index().getAsInt())
        : Optional.empty();
  }

  private static boolean isNvidia(WorkerKind kind) {
    return kind.device().kind().equals(DeviceSpec.CUDA) || kind.isMps();
  }

  private static String calls(WorkerKind kind) {
    List<String> sets = new ArrayList<>(List.of("base"));
    if (isNvidia(kind)) {
      sets.add("driver");
    }
    if (kind.usesAdapter()) {
      sets.add("network");
    }
    return String.join(",", sets);
  }

  /**
   * Returns the parts of a jail, without limits. A worker that uses an adapter stays in the host's
   * network namespace, because the adapter belongs to it. MPS starts a process of its own, whose
   * files in /proc a worker's root folder would not have.
   */
  public String parts(WorkerKind kind) {
    return isolation.parts().stream()
        .filter(part -> !part.equals(LIMITS))
        .filter(part -> !(kind.isMps() && NOT_MPS.contains(part)))
        .filter(part -> !(kind.usesAdapter() && part.equals("network")))
        .collect(Collectors.joining(","));
  }

  /**
   * Returns whether the worker needs locked memory: adapters and drivers pin the memory that they
   * access.
   */
  private static boolean locksMemory(WorkerKind kind) {
    return kind.usesAdapter() || isNvidia(kind);
  }

  @Override
  public void close() throws IOException {
    if (files != null) {
      files.close();
    }
  }
}
