package graft.deployment.step.host;

import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.ServerProcess;
import graft.deployment.state.ServerUser;
import graft.deployment.step.Chain;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.bundle.ServerUnit;
import graft.guests.bundle.ServerViews;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the server of a GPU that the host owns as a user without privileges, beside a graft-starter
 * that has them: as units of systemd, or as a child of its starter, which starts it again when it
 * fails.
 *
 * @param instance the server's name on this host
 * @param byUnits whether systemd runs it, by units that steps before this one wrote
 * @param log what the starter and a server that cannot start print, where systemd does not keep it
 * @param options more options of {@code graft serve}
 */
public record RunServer(
    String gpu,
    List<Endpoint> listen,
    String device,
    Optional<MemorySize> memory,
    int spare,
    List<PortName> rdmaPorts,
    String instance,
    boolean byUnits,
    Path pidFile,
    Path log,
    List<String> options)
    implements HostServer {
  /** The variables of apply's environment that a server and its workers use. */
  private static final List<String> KEPT =
      List.of(
          "PATH",
          "LANG",
          "LC_",
          "TZ",
          "LD_LIBRARY_PATH",
          "CUDA_",
          "NVIDIA_",
          "UCX_",
          "RDMAV_",
          "MLX",
          "MALLOC_",
          "GRAFT_");

  private static final String UNIT_ORIGIN = "Made by graft apply; graft destroy removes it.";

  private static final String UNIT_NEEDS =
      "Requires=graft-starter@%i.service\n"
          + "After=graft-starter@%i.service network-online.target libvirtd.service"
          + " virtnetworkd.service\n"
          + "Wants=network-online.target";

  private static final String CUDA_DEVICES = "CUDA_VISIBLE_DEVICES";

  /**
   * The program that starts workers; empty if this is no built Graft, or one that another user than
   * its owner cannot read.
   */
  public static Optional<Path> starter() {
    Path program = Path.of(System.getProperty("graft.home", ""), "lib", "graft-starter");
    return program.isAbsolute() && Files.isExecutable(program) && othersReach(program)
        ? Optional.of(program)
        : Optional.empty();
  }

  private static boolean othersReach(Path program) {
    try {
      for (Path path = program.toRealPath(); path != null; path = path.getParent()) {
        if (!Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_EXECUTE)) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

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
    return server().describe() + " as user '" + ServerUser.NAME + "'";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.servers().contains(pidFile);
  }

  @Override
  public Path operator() {
    return folder().operator();
  }

  @Override
  public ServerLog printed() {
    return byUnits
        ? ServerLog.units(List.of(ServerUnits.starter(folder()), ServerUnits.server(folder())))
        : ServerLog.file(folder().log());
  }

  private ServerFolder folder() {
    return new ServerFolder(instance);
  }

  /** The same server without a starter, for what both have in common. */
  private StartServer server() {
    return new StartServer(
        gpu, listen, device, memory, spare, rdmaPorts, folder().tokens(), pidFile, log, options);
  }

  /** The units of systemd for it, in the order in which they are written. */
  public List<MakeUnit> units(boolean atBoot) {
    ServerFolder folder = folder();
    String starter =
        ServerUnit.STARTER.text(
            Map.of(
                "origin",
                UNIT_ORIGIN,
                "name",
                "%i",
                "prepare",
                "",
                "configure",
                ServerUnit.command(configure()),
                "start",
                ServerUnit.command(starterCommand(true)),
                "folder",
                "graft/%i",
                "environment",
                environmentLine()));
    String server =
        ServerUnit.SERVER.text(
            Map.ofEntries(
                Map.entry("origin", UNIT_ORIGIN),
                Map.entry("name", "%i"),
                Map.entry("needs", UNIT_NEEDS),
                Map.entry("user", ServerUser.NAME),
                Map.entry("operators", "graft-server/%i"),
                Map.entry("arbiters", ServerViews.ARBITERS_FOLDER),
                Map.entry("start", ServerUnit.command(serverCommand())),
                Map.entry("environment", environmentLine()),
                Map.entry("home", isInHome() ? "read-only" : "yes"),
                Map.entry("logs", "ReadWritePaths=-" + folder.logs() + sockets()),
                Map.entry(
                    "devices",
                    ServerUnit.devices(!rdmaPorts.isEmpty(), !device.equals("software")))));
    return List.of(
        new MakeUnit(gpu, ServerUnits.starter(folder), starter, false),
        new MakeUnit(gpu, ServerUnits.server(folder), server, atBoot));
  }

  /** The folders of its sockets for containers, as further words of a setting of the unit. */
  private String sockets() {
    return listen.stream()
        .filter(Endpoint::isUnix)
        .map(endpoint -> " -" + Path.of(endpoint.path()).getParent())
        .collect(Collectors.joining());
  }

  private String environmentLine() {
    return server().isMig() ? CUDA_DEVICES + "=" + device : "";
  }

  private static boolean isInHome() {
    String java = System.getProperty("java.home");
    return java.startsWith("/home/") || java.startsWith("/root/");
  }

  private List<String> configure() {
    List<String> arguments = server().arguments();
    arguments.addAll(List.of("--write-starter-config", folder().config().toString()));
    return GraftCommand.serve(arguments);
  }

  private List<String> serverCommand() {
    List<String> arguments = server().arguments();
    arguments.addAll(
        List.of(
            "--starter",
            folder().socket().toString(),
            ServerViews.OPERATOR,
            folder().operator().toString(),
            ServerViews.ARBITERS,
            ServerViews.ARBITERS_FOLDER));
    arguments.addAll(ServerViews.on(options, Optional.of(folder().metrics())));
    return GraftCommand.serve(arguments);
  }

  private List<String> starterCommand(boolean inUnit) {
    List<String> command = new ArrayList<>(List.of(starter().orElseThrow().toString()));
    if (inUnit) {
      command.add("--own-cgroup");
    }
    command.addAll(
        List.of(
            "--config",
            folder().config().toString(),
            "--socket",
            folder().socket().toString(),
            "--server-user",
            ServerUser.NAME,
            ServerProcess.PID_FILE,
            pidFile.toString()));
    return command;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws Exception {
    stop(); // what an interrupted run left
    ServerUser user =
        ServerUser.find()
            .orElseThrow(
                () ->
                    new StepFailure(
                        "there is no user '" + ServerUser.NAME + "' for the server",
                        "apply again"));
    makeFolders(user);
    PrivateFiles.write(log, new byte[0]);
    server()
        .awaitListening(
            byUnits ? startUnits() : startStarter(), StartServer.READY, this, this::end, context);
    return Map.of();
  }

  private void makeFolders(ServerUser user) throws IOException {
    for (Path folder : parents()) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }
    new ServerLogs(folder()).make(user);
    if (!byUnits) {
      user.makeFolder(folder().operators()); // for a unit, systemd makes both
      user.makeFolder(Path.of(ServerViews.ARBITERS_FOLDER)); // stays until the next boot
    }
    StateDisk.get().makeFolders(folder().files()); // there already when it is started again
    user.letEnter(folder().files());
    Path tokens = folder().tokens();
    if (!Files.exists(tokens, LinkOption.NOFOLLOW_LINKS)) {
      PrivateFiles.write(tokens, new byte[0]);
    }
    user.own(tokens);
  }

  /** The folders of all servers' folders. */
  private List<Path> parents() {
    return Stream.of(folder().files(), folder().runtime(), folder().logs(), folder().operators())
        .map(Path::getParent)
        .toList();
  }

  private BooleanSupplier startUnits() throws IOException {
    String unit = ServerUnits.server(folder());
    // The units' own limit of starts is for failures, not for what an operator asks for.
    forgetFailures();
    Commands.run(
        "systemctl",
        List.of("start", "--no-block", unit),
        "see systemctl status " + unit + ", then apply again");
    return () -> {
      try {
        return Commands.status("systemctl", List.of("--quiet", "is-failed", unit)) != 0;
      } catch (IOException e) {
        return false;
      }
    };
  }

  /**
   * systemd keeps a unit that failed in its list, even without its file, until it is told not to.
   */
  private void forgetFailures() throws IOException {
    Commands.status(
        "systemctl",
        List.of("reset-failed", ServerUnits.server(folder()), ServerUnits.starter(folder())));
  }

  private BooleanSupplier startStarter() throws IOException, InterruptedException {
    Files.createDirectories(folder().runtime());
    Files.setPosixFilePermissions(folder().runtime(), PosixFilePermissions.fromString("rwxr-xr-x"));
    Process configure = program(configure()).start();
    if (configure.waitFor() != 0) {
      return () -> false;
    }
    List<String> command = new ArrayList<>(List.of("setsid"));
    command.addAll(starterCommand(false));
    command.add("--");
    command.addAll(serverCommand());
    command.addAll(List.of(StartServer.ROTATED_LOG, folder().log().toString()));
    return program(command).start()::isAlive;
  }

  private ProcessBuilder program(List<String> command) {
    ProcessBuilder program =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectErrorStream(true);
    program.environment().keySet().removeIf(name -> KEPT.stream().noneMatch(name::startsWith));
    if (server().isMig()) {
      program.environment().put(CUDA_DEVICES, device);
    }
    return program;
  }

  /** The end of what the server and its starter have printed. */
  private String end() throws IOException {
    if (byUnits) {
      return Commands.output(
          "journalctl",
          List.of(
              "--no-pager",
              "--output=cat",
              "--lines=" + StartServer.LOG_LINES,
              "--unit=" + ServerUnits.starter(folder()),
              "--unit=" + ServerUnits.server(folder())));
    }
    String printed = StartServer.end(log);
    return Files.isRegularFile(folder().log(), LinkOption.NOFOLLOW_LINKS)
        ? StartServer.end(folder().log()) + "\n" + printed
        : printed;
  }

  @Override
  public void stop() throws IOException, InterruptedException {
    if (byUnits) {
      String unit = ServerUnits.server(folder());
      Commands.status("systemctl", List.of("stop", unit, ServerUnits.starter(folder())));
    }
    ServerProcess.stop(pidFile);
    PrivateFiles.deleteFolder(folder().runtime());
    removeOperators();
  }

  /** The server's user owns the folder, so that nothing in it is followed, and other files stay. */
  private void removeOperators() throws IOException {
    for (Path socket : List.of(folder().operator(), folder().metrics())) {
      Files.deleteIfExists(socket);
      Files.deleteIfExists(socket.resolveSibling(socket.getFileName() + ".lock"));
    }
    removeIfEmpty(folder().operators());
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws Exception {
    stop();
    if (byUnits) {
      forgetFailures();
    }
    PrivateFiles.deleteFolder(folder().files());
    PrivateFiles.delete(log);
    new ServerLogs(folder()).remove();
    for (Path folder : parents()) {
      removeIfEmpty(folder);
    }
  }

  private static void removeIfEmpty(Path folder) throws IOException {
    try {
      Files.deleteIfExists(folder);
    } catch (java.nio.file.DirectoryNotEmptyException e) {
      // Another server's files are there, or a file that stays.
    }
  }
}
