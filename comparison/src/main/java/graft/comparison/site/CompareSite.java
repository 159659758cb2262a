package graft.comparison.site;

import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.comparison.local.OwnProgram;
import graft.comparison.local.PrivateServer;
import graft.comparison.run.NotPossibleException;
import graft.comparison.run.Place;
import graft.comparison.run.Setting;
import graft.comparison.run.Site;
import graft.comparison.run.Stop;
import graft.comparison.suite.Middleware;
import graft.comparison.suite.RemoteServer;
import graft.comparison.suite.ScenarioKind;
import graft.comparison.suite.Words;
import graft.deployment.DeploymentProgress;
import graft.deployment.UndoRun;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.HypervisorChoice;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.observe.Connections;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Await;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** This host, with the guests that its libvirt runs and the nodes that the suite names. */
public final class CompareSite implements Site {
  /**
   * Prefix of a variable for each further node, whose lines become variables of graft-workload's
   * process for that node.
   */
  private static final String FURTHER_NODE = "GRAFT_WORKLOAD_NODE_";

  private static final String LIBVIRT = "qemu:///system";
  private static final Duration SHUT_DOWN = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofMillis(200);

  private static final Path NVIDIA = Path.of("/dev/nvidiactl");

  /** A label: what runs guests that exist already is the suite's word. */
  private static final String ESXI = "esxi";

  private final SuiteFile file;
  private final String version;
  private final DeploymentProgress progress;
  private final Stop stop;
  private final Path workloads;

  /**
   * @param version the version of Graft, for the report
   * @param progress receives the progress of setting up and removing guests
   * @param stop the user's request to end the run early
   */
  public CompareSite(SuiteFile file, String version, DeploymentProgress progress, Stop stop) {
    this.file = file;
    this.version = version;
    this.progress = progress;
    this.stop = stop;
    workloads = OwnProgram.path();
  }

  @Override
  public Place prepare(Setting setting) throws Exception {
    return switch (setting.kind()) {
      case NATIVE -> nativePlace();
      case UNIX, SHM, TCP -> served(setting);
      case PF_REMOTE, VF_REMOTE -> otherNode(setting);
      case VM_LOCAL, LXC_LOCAL, VM_REMOTE, VM_PASSTHROUGH, LXC_PASSTHROUGH ->
          GuestPlace.apply(descriptor(file, setting), setting, environment(setting), progress);
    };
  }

  private Place nativePlace() throws NotPossibleException {
    if (file.suite().servedDevice().equals("software")) {
      throw new NotPossibleException(
          "the software device has no driver of its own: programs reach it through Graft alone");
    }
    if (!Files.exists(NVIDIA)) {
      throw new NotPossibleException("this host has no NVIDIA GPU: there is no " + NVIDIA);
    }
    return host(Map.of(), () -> {});
  }

  /** A place on the host itself, with the suite's folders of programs in its PATH. */
  private Place host(Map<String, String> environment, AutoCloseable server) {
    Map<String, String> all = new HashMap<>(environment);
    Stream<String> folders =
        file.suite().workloads().stream()
            .flatMap(workload -> workload.hostPath().stream())
            .map(folder -> file.resolve(folder).toString());
    String usual = System.getenv().getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
    all.put("PATH", Stream.concat(folders, Stream.of(usual)).collect(Collectors.joining(":")));
    return new HostPlace(workloads, all, server, stop);
  }

  /** A place with a private server for one visit. */
  private Place served(Setting setting) throws Exception {
    if (!setting.middleware().isGraft()) {
      throw new NotPossibleException(
          Words.of(setting.kind())
              + " is a channel of Graft's: compare other middleware over"
              + " pf-remote, vf-remote or in guests");
    }
    if (!file.suite().servedDevice().equals("software") && !Files.exists(NVIDIA)) {
      throw new NotPossibleException("this host has no NVIDIA GPU: there is no " + NVIDIA);
    }
    boolean tcp = setting.kind() == ScenarioKind.TCP;
    PrivateServer server = PrivateServer.start(file.suite().servedDevice(), null, tcp);
    String address = server.endpoint().toString();
    Map<String, String> environment = new HashMap<>();
    environment.put(
        "GRAFT_SERVER",
        setting.kind() == ScenarioKind.SHM ? address.replaceFirst("^unix:", "shm:") : address);
    environment.put("GRAFT_NAME", PrivateServer.NAME);
    environment.put("GRAFT_TOKEN_FILE", server.tokenFile().toString());
    environment.put("LD_LIBRARY_PATH", clientPath());
    return host(environment, server);
  }

  private Place otherNode(Setting setting) {
    Map<String, String> environment = new HashMap<>(environment(setting));
    if (setting.middleware().isGraft()) {
      List<RemoteServer> servers = setting.scenario().servers();
      environment.putAll(client(servers.get(0)));
      environment.put("LD_LIBRARY_PATH", clientPath());
      for (int node = 1; node < servers.size(); node++) {
        environment.put(FURTHER_NODE + node, lines(client(servers.get(node))));
      }
    }
    return host(environment, () -> {});
  }

  /** The variables that direct a program to a server. */
  private Map<String, String> client(RemoteServer server) {
    return Map.of(
        "GRAFT_SERVER", server.server(),
        "GRAFT_NAME", server.client().orElse(System.getProperty("user.name")),
        "GRAFT_TOKEN_FILE", file.resolve(server.tokenFile()).toString());
  }

  private static String lines(Map<String, String> settings) {
    return settings.entrySet().stream()
        .map(setting -> setting.getKey() + "=" + setting.getValue())
        .collect(Collectors.joining("\n"));
  }

  /** The variables that other middleware needs. */
  private static Map<String, String> environment(Setting setting) {
    Middleware middleware = setting.middleware();
    Map<String, String> environment = new HashMap<>();
    middleware.library().ifPresent(folder -> environment.put("LD_LIBRARY_PATH", folder));
    for (String text : middleware.environment()) {
      int equals = text.indexOf('=');
      environment.put(text.substring(0, equals), text.substring(equals + 1));
    }
    return environment;
  }

  private static String clientPath() {
    String before = System.getenv().getOrDefault("LD_LIBRARY_PATH", "");
    String client = ClientFolder.path(System.getenv()).toString();
    return before.isEmpty() ? client : client + ":" + before;
  }

  /** The scenario's descriptor, with the setting's hypervisor. */
  static DescriptorFile descriptor(SuiteFile file, Setting setting) throws Exception {
    Path path = file.resolve(setting.scenario().descriptor().orElseThrow());
    DescriptorFile read = read(path);
    Descriptor d = read.descriptor();
    boolean software = file.suite().servedDevice().equals("software");
    for (Gpu gpu : d.gpus()) {
      if ((gpu.device().kind() == GpuDevice.Kind.SOFTWARE) != software) {
        throw new NotPossibleException(
            path + " serves " + gpu.device() + ", the suite " + file.suite().servedDevice());
      }
    }
    boolean containers = d.hypervisor() == HypervisorChoice.LXC;
    if (containers != setting.kind().isContainer()) {
      throw new NotPossibleException(
          path
              + " describes "
              + (containers
                  ? "containers: write kind: lxc-local or lxc-passthrough"
                  : "no containers (hypervisor: lxc)"));
    }
    if (setting.kind() == ScenarioKind.LXC_PASSTHROUGH
        && d.guests().stream().allMatch(guest -> guest.passthrough().isEmpty())) {
      throw new NotPossibleException(
          path + " describes no container with a GPU of its own (passthrough)");
    }
    String wanted = setting.hypervisor().orElse("");
    if (wanted.isEmpty()) {
      return read;
    }
    if (exist(d, wanted)) {
      return read;
    }
    if (wanted.equals("lxc")) {
      throw new NotPossibleException(
          "a container boots neither kernel nor image: the kinds lxc-local and lxc-passthrough take"
              + " a descriptor for containers");
    }
    HypervisorChoice choice = HypervisorChoice.valueOf(wanted.toUpperCase(Locale.ROOT));
    Descriptor chosen = d.with(d.name(), choice);
    return new DescriptorFile(chosen, read.path(), read.positions());
  }

  /**
   * What a descriptor declares that Graft cannot do, such as virtual functions of containers, is a
   * reason.
   */
  private static DescriptorFile read(Path path) throws NotPossibleException {
    try {
      return DescriptorReader.read(path);
    } catch (InvalidDescriptorException e) {
      throw new NotPossibleException(e.getMessage());
    }
  }

  /**
   * Whether the guests of a descriptor exist already, so that the name of their hypervisor is only
   * a label.
   *
   * @throws NotPossibleException if the name does not fit the guests
   */
  static boolean exist(Descriptor descriptor, String hypervisor) throws NotPossibleException {
    boolean exist =
        !descriptor.guests().isEmpty()
            && descriptor.guests().stream().allMatch(guest -> guest.existing().isPresent());
    if (hypervisor.equals(ESXI) != exist) {
      throw new NotPossibleException(
          exist
              ? "its guests exist already, and Graft does not choose their hypervisor"
              : "Graft makes no guests on ESXi; the label is for guests that exist already");
    }
    return exist;
  }

  @Override
  public void clear(Setting setting) throws Exception {
    if (setting.kind().isGuest()) {
      StateFolder state = StateFolder.of(descriptor(file, setting).descriptor().deploymentName());
      UndoRun.destroy(state, progress);
    }
  }

  @Override
  public Map<String, String> describe() {
    return MachineFacts.read(file.suite().servedDevice(), version);
  }

  @Override
  public List<String> guestsRunning() {
    try (Connections connections = new Connections()) {
      return connections.get(LIBVIRT).guests().stream()
          .filter(guest -> guest.state().isActive())
          .map(ObservedGuest::name)
          .toList();
    } catch (HypervisorException e) {
      return List.of(); // no libvirt on this host
    }
  }

  @Override
  public void shutOff(String guest) throws InterruptedException {
    try (Connections connections = new Connections()) {
      Guest other = other(connections, guest);
      other.definitionXml(); // fails for a guest without a definition, which could not be started
      // again
      other.shutdown();
      Await.Outcome outcome =
          new Await(SHUT_DOWN, LOOK)
              .until(
                  () -> other.state().isActive() ? Await.Answer.NOT_YET : Await.Answer.YES,
                  seconds -> {},
                  stop::isAsked);
      if (outcome != Await.Outcome.READY) {
        throw new GraftException(
            "guest '" + guest + "' was asked to shut down, and runs on",
            "shut it down by hand, or write other-guests: note");
      }
    }
  }

  private static Guest other(Connections connections, String guest) {
    return connections
        .get(LIBVIRT)
        .guest(guest)
        .orElseThrow(() -> new GraftException("guest '" + guest + "' is not there any more", ""));
  }

  @Override
  public void start(String guest) {
    try (Connections connections = new Connections()) {
      Guest other = other(connections, guest);
      if (!other.state().isActive()) {
        other.start();
      }
    }
  }
}
