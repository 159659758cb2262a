package graft.cli.host;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.ShutdownSignal;
import graft.common.GraftException;
import graft.common.audit.AuditLog;
import graft.common.disk.PrivateFiles;
import graft.common.program.CurrentUser;
import graft.common.values.Endpoint;
import graft.comparison.local.ServedDevice;
import graft.deployment.descriptor.gpu.PortName;
import graft.remoting.server.GraftServer;
import graft.remoting.server.ServerConfig;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code graft serve}: runs the server on the machine of a GPU. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    header = "Serves a GPU to clients.",
    description = {
      "",
      "Runs until SIGTERM or Ctrl-C. Each client authenticates with its token, or, with"
          + " --certificates, with its machine's certificate. The tokens file is"
          + " read again for every connection, so that removing a line revokes the client's access."
          + " Each line is",
      "  NAME TOKEN [memory=BYTES] [guest-memory=BYTES] [max-sessions=NUMBER] [device=INDEX]"
          + " [cid=NUMBER] [region=FILE] [domain=NAME] [sessions=own] [encryption=optional]"
          + " [expires=SECONDS] [class=guaranteed|burstable|best-effort] [compute=PERCENT] [priority=normal|high]",
      "with a token of 64 hexadecimal digits, or certificate=NAME in its place: then a client that"
          + " gives the first name needs a certificate with this DNS name among its alternative"
          + " names, or, if it has none, as its common name. Names are compared as a whole, without"
          + " patterns. memory limits the device memory of each session,"
          + " guest-memory that of all sessions of the client together, max-sessions their number;"
          + " cid is the only context id from which the client may"
          + " connect by vsock; region is the file of the memory that the host shares with its"
          + " guest; domain is the name of its domain in Xen, to which pages are granted for vchan;"
          + " sessions=own ends the sessions that were opened with another token of this name;"
          + " encryption=optional lets the client connect from another machine without encryption;"
          + " from the second of Unix time that expires names, the line counts as deleted;"
          + " class, compute and priority are the client's share of the software device's time."
          + " The tokens file must be readable by its owner alone (mode 0600).",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft serve --listen tcp://127.0.0.1:7799 --tokens tokens --device software",
      "  graft serve --listen unix:///run/graft.sock --listen tcp://10.0.0.1:7799 --tokens tokens",
      "  graft serve --listen tcp://10.0.0.1:7799 --tokens tokens --starter"
          + " /run/graft/gpu/starter.sock",
      "  graft serve --listen tcp://10.0.0.1:7799 --tokens tokens --certificates /etc/pki",
      "  graft serve --listen tcp://10.0.0.1:7799 --tokens tokens --session-log on --metrics"
          + " unix:///run/graft/metrics.sock"
    })
public final class ServeCommand implements Callable<Integer> {
  /** How long open sessions may take to close. */
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  @Mixin Output output;

  @Option(
      names = "--listen",
      required = true,
      paramLabel = "ADDRESS",
      description =
          "tcp://HOST:PORT, unix:///PATH or vsock://CID:PORT; may be given several times.")
  List<Endpoint> listen;

  @ArgGroup(multiplicity = "1")
  Clients clients;

  /** The options that select which clients may connect. */
  static final class Clients {
    @Option(
        names = "--tokens",
        paramLabel = "FILE",
        description = "The tokens file: who may connect.")
    Path tokens;

    @Option(
        names = "--insecure",
        description =
            "No authentication, and no demand for encryption: anyone who can connect may use the"
                + " GPU.")
    boolean insecure;
  }

  @Option(
      names = "--certificates",
      paramLabel = "FOLDER",
      description =
          "Let machines authenticate with certificates that lie below the folder as libvirt has"
              + " them, usually /etc/pki: CA/cacert.pem, CA/cacrl.pem if there is one,"
              + " libvirt/servercert.pem, and libvirt/private/serverkey.pem, which other users may"
              + " not read. They are read again for every connection. The tokens file names the"
              + " machines. If absent, the server takes tokens only.")
  Path certificates;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      defaultValue = "gpu",
      description = "software, gpu, or gpu:N for one GPU (default: ${DEFAULT-VALUE}).")
  String device;

  @Option(
      names = "--spare",
      paramLabel = "N",
      defaultValue = "1",
      description = "The number of spare workers (default: ${DEFAULT-VALUE}).")
  int spare;

  @Option(
      names = "--spare-context",
      paramLabel = "on|off",
      defaultValue = "on",
      description =
          "Whether a worker has a context on the GPU, and its code is warm, before it gets a"
              + " session. off: spare workers take no memory of the GPU; sessions start later, and"
              + " their first calls are slower (default: ${DEFAULT-VALUE}).")
  Switch spareContext;

  @Option(
      names = "--max-sessions",
      paramLabel = "N",
      defaultValue = "64",
      description = "The most sessions at one time (default: ${DEFAULT-VALUE}).")
  int maxSessions;

  @Option(
      names = "--max-guest-sessions",
      paramLabel = "N",
      description =
          "The most sessions of one guest at one time. If not given, a guest may have all but those"
              + " that are kept for guests without a session, a quarter at most.")
  Integer maxGuestSessions;

  @Option(
      names = "--rdma-ports",
      split = ",",
      paramLabel = "PORT",
      description =
          "The ports that rdma uses, each by its GUID, by the MAC of an Ethernet port, or by its"
              + " name in UCX, such as mlx5_0:1. If absent, UCX chooses.")
  List<PortName> rdmaPorts = List.of();

  @Option(
      names = "--sensors",
      paramLabel = "on|off",
      description =
          "Whether guests see the temperature, power, clocks and PCIe traffic of the whole GPU"
              + " (default: on, or what the variable GRAFT_SENSORS says).")
  Switch sensors;

  /** A choice with two values. */
  enum Switch {
    on,
    off
  }

  @ArgGroup(exclusive = false, heading = "%nLimits of sessions and guests:%n")
  SessionSettings sessions = new SessionSettings();

  @ArgGroup(exclusive = false, heading = "%nHow workers are confined:%n")
  JailSettings jail = new JailSettings();

  @Mixin ProfilingSettings profiling;

  @Option(
      names = "--starter",
      paramLabel = "SOCKET",
      description =
          "The socket of the graft-starter that starts the workers, so that this server needs no"
              + " privileges. Without it the server confines its workers itself.")
  Path starter;

  @Option(
      names = "--write-starter-config",
      paramLabel = "FILE",
      description =
          "Write what a graft-starter needs to start the workers of such a server, and exit. For"
              + " root; graft apply and the units that it makes use it.")
  Path starterConfig;

  @Option(
      names = "--peer",
      paramLabel = "ADDRESS",
      description =
          "The address of another server, tcp://HOST:PORT or unix:///PATH; may be given several"
              + " times. Where a program uses this server and that one, this one may connect to"
              + " it, so that copies between their GPUs go directly. Without it they go through the"
              + " program's machine.")
  List<Endpoint> peers = List.of();

  @Mixin ObservationSettings observation;

  @Mixin OperatorSettings operators;

  @Option(
      names = "--audit",
      paramLabel = "FILE|syslog|off",
      description =
          "Where audit events go, one JSON object a line: a file, which is renamed at 10 MiB and"
              + " kept 5 times, or the system's log (default: audit.jsonl in the state folder, or"
              + " GRAFT_AUDIT).")
  String audit;

  @Option(
      names = "--log",
      paramLabel = "FILE",
      description =
          "Write the log to this file instead of standard error. The file is renamed at 10 MiB, and"
              + " 3 earlier ones are kept.")
  Path log;

  @Option(
      names = "--pid-file",
      paramLabel = "FILE",
      description = "A file that the server writes its process ID to, once it serves.")
  Path pidFile;

  @Override
  public Integer call() throws Exception {
    if (starterConfig != null) {
      return writeStarterConfig();
    }
    ShutdownSignal end = new ShutdownSignal();
    if (log != null) {
      RotatedLog.takeStandardError(log);
    }
    observation.startLog();
    try (AuditLog events = openAudit();
        AuditLog accounts = observation.openAccounts();
        GraftServer server = GraftServer.start(config(events, accounts))) {
      end.listen(CLOSE_LIMIT);
      writePid();
      if (clients.insecure) {
        output
            .err()
            .println(
                "WARNING: --insecure: anyone who can connect to an address below may use the GPU"
                    + " and run code on it. Nobody is authenticated.");
      }
      server
          .rdmaObstacle()
          .ifPresent(why -> output.err().println("WARNING: no client can use rdma now: " + why));
      server.certificateNotices().forEach(line -> output.err().println("WARNING: " + line));
      if (CurrentUser.isRoot()) {
        output
            .err()
            .println(
                "WARNING: the server runs as root; with --starter it can run as another user, as"
                    + " graft apply has it");
      }
      if (!server.isolation().missing().isEmpty()) {
        output.err().println("WARNING: " + server.isolation().describe());
      }
      output.err().flush();
      server.addresses().forEach(address -> output.say("serves at " + address));
      end.await();
      return ExitCode.OK;
    } catch (IsolationException e) {
      output.err().println("graft serve: " + e.getMessage());
      return ExitCode.HOST;
    } catch (ServerException e) {
      throw new GraftException("the server cannot start: " + e.getMessage(), "", e);
    } finally {
      if (pidFile != null) {
        Files.deleteIfExists(pidFile);
      }
      end.close();
    }
  }

  private int writeStarterConfig() {
    try {
      GraftServer.writeStarterConfig(config(AuditLog.none(), AuditLog.none()), starterConfig);
      return ExitCode.OK;
    } catch (ServerException e) {
      throw new GraftException(e.getMessage(), "run this as root", e);
    }
  }

  private AuditLog openAudit() {
    boolean isDefault = audit == null && System.getenv(OperatorAudit.VARIABLE) == null;
    String where = audit == null ? OperatorAudit.where() : audit;
    try {
      return open(where);
    } catch (IOException e) {
      if (isDefault) {
        return openSyslog(where, e);
      }
      throw new GraftException(
          "cannot write audit events to " + where + ": " + e.getMessage(),
          "name a file that this user may write, or --audit syslog or --audit off",
          e);
    }
  }

  private static AuditLog open(String where) throws IOException {
    return AuditLog.open(where, message -> System.err.println("WARNING: " + message));
  }

  /**
   * A server that may not write the file, as under its systemd unit, writes to the system's log.
   */
  private static AuditLog openSyslog(String file, IOException why) {
    try {
      AuditLog log = open(AuditLog.SYSLOG);
      System.err.println(
          "audit events go to syslog, since " + file + " cannot be written: " + why.getMessage());
      return log;
    } catch (IOException e) {
      System.err.println("WARNING: no audit events are written: " + e.getMessage());
      return AuditLog.none();
    }
  }

  private ServerConfig config(AuditLog events, AuditLog accounts) {
    ServerConfig.Builder config =
        clients.insecure
            ? ServerConfig.withoutTokens(ServedDevice.parse(device))
            : ServerConfig.builder(clients.tokens, ServedDevice.parse(device));
    if (certificates != null) {
      config.certificates(certificates);
    }
    config.spares(spare);
    config.spareContexts(spareContext == Switch.on);
    config.maxSessions(maxSessions);
    if (maxGuestSessions != null) {
      config.maxGuestSessions(maxGuestSessions);
    }
    sessions.setRest(config);
    if (starter == null) {
      config.jail(profiling.addTo(jail.config()));
    } else {
      // The starter's configuration names the profiling library, which this user may not reach.
      config.jail(jail.config()).starter(starter);
    }
    config.rdmaPorts(rdmaPorts.stream().map(PortName::text).toList());
    if (sensors != null) {
      config.sensors(sensors == Switch.on);
    }
    listen.forEach(address -> config.listen(ListenAddress.parse(address.toString())));
    config.peers(peers.stream().map(address -> ListenAddress.parse(address.toString())).toList());
    config.limits(sessions.limits(config.limits()));
    config.audit(events);
    config.accounts(accounts);
    observation.metrics().ifPresent(config::metrics);
    if (starterConfig == null) {
      Consumer<String> warning = why -> output.err().println("WARNING: " + why);
      operators.socket(warning).ifPresent(config::operator);
      operators.arbiters(warning).ifPresent(config::arbiters);
    }
    try {
      return config.build();
    } catch (IllegalArgumentException e) {
      throw new GraftException(e.getMessage(), "see graft serve --help", e);
    }
  }

  private void writePid() throws IOException {
    if (pidFile != null) {
      String pid = ProcessHandle.current().pid() + "\n";
      PrivateFiles.write(pidFile, pid.getBytes(StandardCharsets.UTF_8));
    }
  }
}
