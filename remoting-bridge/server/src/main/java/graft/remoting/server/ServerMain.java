package graft.remoting.server;

import graft.common.audit.AuditLog;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Runs the server as a program of its own: {@code --listen ADDRESS... --tokens FILE [--certificates
 * FOLDER] [--device SPEC] [--memory BYTES] [--limits LIST] [--spare N] [--max-sessions N]
 * [--max-guest-sessions N] [--metrics ADDRESS] [--operator SOCKET] [--rdma-ports LIST] [--kept-data
 * BYTES] [--audit FILE] [--arbiters FOLDER] [--require-isolation yes|no]}. When the server can
 * serve a session, the program prints its addresses on standard output, one a line, and on standard
 * error the means by which workers are confined. SIGTERM and SIGINT stop it cleanly. Exit status: 0
 * stopped, 1 cannot start, 2 wrong arguments, 4 cannot confine workers as required.
 */
public final class ServerMain {
  private static final String USAGE =
      "usage: ServerMain --listen tcp://HOST:PORT|unix:///PATH [--listen ...] --tokens FILE\n"
          + "    [--certificates FOLDER]\n"
          + "    [--device software|cuda|cuda:INDEX] [--memory BYTES] [--spare N] [--max-sessions"
          + " N]\n"
          + "    [--max-guest-sessions N] [--limits NAME=NUMBER,...] [--audit FILE|syslog|off]\n"
          + "    [--metrics tcp://127.0.0.1:PORT|unix:///PATH] [--operator SOCKET]\n"
          + "    [--rdma-ports PORT,...] [--kept-data BYTES] [--arbiters FOLDER]\n"
          + "    [--peer tcp://HOST:PORT|unix:///PATH ...]\n"
          + "    [--require-isolation yes|no]";

  private ServerMain() {}

  /** Runs the server until the process is told to stop. */
  public static void main(String[] args) throws InterruptedException {
    ServerConfig config;
    try {
      config = parse(List.of(args));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(USAGE);
      System.exit(2);
      return;
    }
    try {
      GraftServer server = GraftServer.start(config);
      Runtime.getRuntime().addShutdownHook(new Thread(server::close, "graft-stop"));
      System.err.println("graft server: " + server.isolation().describe());
      server
          .rdmaObstacle()
          .ifPresent(why -> System.err.println("graft server: rdma is not available now: " + why));
      server.certificateNotices().forEach(line -> System.err.println("graft server: " + line));
      server.addresses().forEach(System.out::println);
    } catch (ServerException e) {
      System.err.println("graft server: " + e.getMessage());
      System.exit(e instanceof IsolationException ? 4 : 1);
    }
    new CountDownLatch(1).await();
  }

  static ServerConfig parse(List<String> args) {
    Path tokens = null;
    String device = "cuda";
    for (int i = 0; i < args.size(); i += 2) {
      if (args.get(i).equals("--tokens")) {
        tokens = Path.of(value(args, i));
      } else if (args.get(i).equals("--device")) {
        device = value(args, i);
      }
    }
    if (tokens == null) {
      throw new IllegalArgumentException("--tokens is missing");
    }
    ServerConfig.Builder config = ServerConfig.builder(tokens, DeviceSpec.parse(device));
    List<ListenAddress> peers = new ArrayList<>();
    for (int i = 0; i < args.size(); i += 2) {
      String value = value(args, i);
      switch (args.get(i)) {
        case "--listen" -> config.listen(ListenAddress.parse(value));
        case "--certificates" -> config.certificates(Path.of(value));
        case "--memory" -> config.memory(number(args.get(i), value));
        case "--spare" -> config.spares((int) number(args.get(i), value));
        case "--max-sessions" -> config.maxSessions((int) number(args.get(i), value));
        case "--max-guest-sessions" -> config.maxGuestSessions((int) number(args.get(i), value));
        case "--limits" -> config.limits(limits(config.limits(), value));
        case "--audit" -> config.audit(audit(value));
        case "--metrics" -> config.metrics(ListenAddress.parse(value));
        case "--operator" -> config.operator(Path.of(value).toAbsolutePath());
        case "--peer" -> peers.add(ListenAddress.parse(value));
        case "--arbiters" -> config.arbiters(Path.of(value).toAbsolutePath());
        case "--require-isolation" ->
            config.jail(JailConfig.defaults().withRequired(value.equals("yes")));
        case "--kept-data" -> config.keptData(number(args.get(i), value));
        case "--rdma-ports" -> config.rdmaPorts(List.of(value.split(",")));
        case "--tokens", "--device" -> {}
        default -> throw new IllegalArgumentException("unknown option " + args.get(i));
      }
    }
    return config.peers(peers).build();
  }

  private static SessionLimits limits(SessionLimits before, String text) {
    SessionLimits limits = before;
    for (String setting : text.split(",", -1)) {
      String[] parts = setting.split("=", 2);
      long value = parts.length == 2 ? number("--limits", parts[1]) : -1;
      limits =
          switch (parts.length == 2 ? parts[0] : "") {
            case "host-memory" -> limits.withHostMemory(value);
            case "guest-memory" ->
                new SessionLimits(
                    limits.memory(),
                    limits.hostMemory(),
                    value,
                    limits.guestHostMemory(),
                    limits.idleSeconds());
            case "guest-host-memory" ->
                new SessionLimits(
                    limits.memory(),
                    limits.hostMemory(),
                    limits.guestMemory(),
                    value,
                    limits.idleSeconds());
            case "idle-seconds" ->
                new SessionLimits(
                    limits.memory(),
                    limits.hostMemory(),
                    limits.guestMemory(),
                    limits.guestHostMemory(),
                    value);
            default ->
                throw new IllegalArgumentException(
                    "--limits " + setting + ": see the server's README for the limits");
          };
    }
    return limits;
  }

  private static AuditLog audit(String where) {
    try {
      return AuditLog.open(where, message -> System.err.println("graft server: " + message));
    } catch (IOException e) {
      throw new IllegalArgumentException("--audit " + where + ": " + e.getMessage(), e);
    }
  }

  private static String value(List<String> args, int index) {
    if (index + 1 >= args.size()) {
      throw new IllegalArgumentException(args.get(index) + " needs a value");
    }
    return args.get(index + 1);
  }

  private static long number(String option, String value) {
    if (!value.matches("\\d{1,18}")) {
      throw new IllegalArgumentException(option + " " + value + ": write a number");
    }
    return Long.parseLong(value);
  }
}
