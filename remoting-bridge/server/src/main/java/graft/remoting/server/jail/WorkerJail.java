package graft.remoting.server.jail;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The jail of a server's workers: the options of {@code graft-jail}, which starts each of them. A
 * worker is confined before its guest is known, so that whatever belongs to a guest is passed to
 * the worker as descriptors that the server opened.
 */
public final class WorkerJail implements AutoCloseable {
  private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
  private static final Path USERS = Path.of("/run/graft/worker-users");

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

  /** The size of a worker's /tmp in bytes, for the driver's compute cache and a crash report. */
  private static final long TEMPORARY = 256L << 20;

  private static final int FILES = 4_096;
  private static final long LOCKED = 64L << 20;

  private final JailProgram program;
  private final Isolation isolation;
  private final JailFolder files;
  private final JailOptions common;
  private final JailConfig config;
  private final WorkerUsers users;
  private final WorkerCgroups cgroups;
  private final NvidiaFiles nvidia = new NvidiaFiles(Path.of("/"));

  private WorkerJail(
      JailProgram program,
      Isolation isolation,
      JailFolder files,
      JailOptions common,
      JailConfig config,
      WorkerUsers users,
      WorkerCgroups cgroups) {
    this.program = program;
    this.isolation = isolation;
    this.files = files;
    this.common = common;
    this.config = config;
    this.users = users;
    this.cgroups = cgroups;
  }

  /** Finds out which parts the host allows, and prepares them. */
  public static WorkerJail open(JailConfig config) throws ServerException {
    Optional<JailProgram> program = JailProgram.find();
    if (program.isEmpty()) {
      return none("the program graft-jail is not there");
    }
    WorkerCgroups cgroups = null;
    String noCgroups = "";
    try {
      cgroups = WorkerCgroups.open(CGROUPS);
    } catch (IOException e) {
      noCgroups = e.getMessage();
    }
    try {
      JailFolder files = JailFolder.make(Path.of(System.getProperty("java.io.tmpdir")));
      JailOptions common = common(files);
      JailOptions trial = new JailOptions(common).add("--user", config.firstUser());
      if (cgroups != null) {
        addLimits(trial, cgroups.next(), config);
      }
      Isolation isolation = program.get().check(trial.list());
      if (cgroups == null) {
        isolation = isolation.without("limits", noCgroups);
      }
      String without = System.getenv().getOrDefault(WITHOUT_VARIABLE, "");
      for (String part : without.isEmpty() ? new String[0] : without.split(",", -1)) {
        isolation = isolation.without(part, "left out by " + WITHOUT_VARIABLE);
      }
      WorkerUsers users = null;
      if (isolation.has("user")) {
        users = new WorkerUsers(USERS, config.firstUser(), config.lastUser());
      }
      return new WorkerJail(program.get(), isolation, files, common, config, users, cgroups);
    } catch (IOException e) {
      throw new ServerException("cannot prepare the workers' jail: " + e.getMessage(), e);
    }
  }

  /** Returns a jail without any parts: workers run like the server. */
  public static WorkerJail none(String why) {
    return new WorkerJail(
        null, Isolation.none(why), null, new JailOptions(), JailConfig.defaults(), null, null);
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

  /**
   * A place for one worker.
   *
   * @param options the command that precedes the worker's own; empty without a jail
   * @param visible the GPU that the worker is limited to, in the form of CUDA_VISIBLE_DEVICES
   */
  public record Cell(
      List<String> options, Optional<String> visible, OptionalInt user, Optional<Path> cgroup) {}

  /**
   * Prepares a cell.
   *
   * @param socket the socket that the worker is connected to
   * @param environment the worker's environment
   */
  public Cell enter(WorkerKind kind, Path socket, Map<String, String> environment)
      throws IOException {
    if (program == null || isolation.parts().isEmpty()) {
      return new Cell(List.of(), Optional.empty(), OptionalInt.empty(), Optional.empty());
    }
    OptionalInt user = users == null ? OptionalInt.empty() : OptionalInt.of(users.take());
    Optional<Path> cgroup =
        isolation.has("limits") ? Optional.of(cgroups.next()) : Optional.empty();
    JailOptions options =
        new JailOptions(common).add("--use", parts(kind)).add("--connect", socket);
    user.ifPresent(number -> options.add("--user", number));
    cgroup.ifPresent(path -> addLimits(options, path, config));
    options.add("--calls", calls(kind));
    String log = System.getenv(LOG_VARIABLE);
    if (log != null) {
      options.add("--log", log);
    }
    resources(options, kind);
    Optional<NvidiaFiles.Gpu> gpu = Optional.empty();
    if (isNvidia(kind)) {
      nvidia.makeNodes();
      if (kind.device().index().isPresent() && !environment.containsKey("CUDA_VISIBLE_DEVICES")) {
        gpu = nvidia.gpu(kind.device().index().getAsInt());
      }
      options.addAll("--read", nvidia.readable()).addAll("--device", nvidia.nodes(gpu));
    }
    if (kind.usesAdapter()) {
      AdapterFiles adapters = new AdapterFiles(environment);
      options.addAll("--read", adapters.readable()).addAll("--device", adapters.nodes());
    }
    List<String> all = new ArrayList<>(List.of(program.path().toString()));
    all.addAll(options.list());
    all.add("--");
    return new Cell(all, gpu.map(NvidiaFiles.Gpu::uuid), user, cgroup);
  }

  private static boolean isNvidia(WorkerKind kind) {
    return kind.device().kind().equals(DeviceSpec.CUDA);
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
   * Returns the parts of a cell. A worker that uses an adapter stays in the host's network
   * namespace, because the adapter belongs to it.
   */
  private String parts(WorkerKind kind) {
    return isolation.parts().stream()
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

  private void resources(JailOptions options, WorkerKind kind) {
    options
        .add("--limit", "core=0")
        .add("--limit", "nofile=" + FILES)
        .add("--limit", "nproc=" + config.threads())
        .add("--limit", "memlock=" + (locksMemory(kind) ? memory(config) : LOCKED));
    if (!isolation.has("limits") && !isNvidia(kind)) {
      options.add("--limit", "data=" + memory(config));
    }
  }

  private static void addLimits(JailOptions options, Path cgroup, JailConfig config) {
    options
        .add("--cgroup", cgroup)
        .add("--set", "memory.max=" + memory(config))
        .add("--set", "pids.max=" + config.threads())
        .add("--set", "cpu.weight=100");
  }

  private static long memory(JailConfig config) {
    return config.memory().orElseGet(() -> MachineMemory.bytes() / 2);
  }

  /** Releases the cell of a worker whose processes have all ended. */
  public void leave(Cell cell) {
    if (cell.user().isPresent()) {
      users.give(cell.user().getAsInt());
    }
    cell.cgroup().ifPresent(WorkerCgroups::remove);
  }

  @Override
  public void close() throws IOException {
    if (users != null) {
      users.close();
    }
    if (files != null) {
      files.close();
    }
  }
}
