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
 * What the workers of a server are confined by: the options of {@code graft-jail}, which starts
 * each of them. A worker is confined before its guest is known; what belongs to a guest comes to it
 * as descriptors that the server opened.
 */
public final class WorkerJail implements AutoCloseable {
  private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
  private static final Path USERS = Path.of("/run/graft/worker-users");

  /** A file for the system calls of workers beyond those allowed, which are then allowed too. */
  private static final String LOG_VARIABLE = "GRAFT_JAIL_LOG";

  /** Parts of a jail that are left out, to find out which of them a driver cannot do with. */
  private static final String WITHOUT_VARIABLE = "GRAFT_JAIL_WITHOUT";

  /** Of a worker's /tmp, in bytes: the driver's compute cache and a crash report. */
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

  /** Finds out what this machine can give, and makes it ready. */
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

  /** No jail: workers run as the server does. */
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

  /** Whether workers have a file system of their own. */
  public boolean hasRoot() {
    return isolation.has("mounts");
  }

  /** Where the jars' native libraries are unpacked, if they are. */
  public Optional<Path> libraries() {
    return Optional.ofNullable(files).map(JailFolder::libraries);
  }

  /**
   * A place for one worker.
   *
   * @param options what comes before the worker's own command; empty without a jail
   * @param visible the GPU to which the place is limited, as CUDA_VISIBLE_DEVICES has it
   */
  public record Cell(
      List<String> options, Optional<String> visible, OptionalInt user, Optional<Path> cgroup) {}

  /**
   * Makes a place.
   *
   * @param socket where the worker is connected to
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

  /** An adapter belongs to the machine's network namespace. */
  private String parts(WorkerKind kind) {
    return isolation.parts().stream()
        .filter(part -> !(kind.usesAdapter() && part.equals("network")))
        .collect(Collectors.joining(","));
  }

  /** Adapters and drivers pin what they reach. */
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

  /** A worker has ended, and its processes with it. */
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
