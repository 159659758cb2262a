package graft.remoting.server;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Runs the server as a program of its own: {@code --listen ADDRESS... --tokens FILE [--device SPEC]
 * [--memory BYTES] [--spare N] [--max-sessions N] [--max-guest-sessions N] [--metrics ADDRESS]
 * [--rdma-ports LIST] [--require-isolation yes|no]}. When the server can serve a session, the
 * program prints its addresses on standard output, one a line, and on standard error the means by
 * which workers are confined. SIGTERM and SIGINT stop it cleanly. Exit status: 0 stopped, 1 cannot
 * start, 2 wrong arguments, 4 cannot confine workers as required.
 */
public final class ServerMain {
  private static final String USAGE =
      "usage: ServerMain --listen tcp://HOST:PORT|unix:///PATH [--listen ...] --tokens FILE\n"
          + "    [--device software|cuda|cuda:INDEX] [--memory BYTES] [--spare N] [--max-sessions N]\n"
          + "    [--max-guest-sessions N]\n"
          + "    [--metrics tcp://127.0.0.1:PORT|unix:///PATH] [--rdma-ports PORT,...]\n"
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
    for (int i = 0; i < args.size(); i += 2) {
      String value = value(args, i);
      switch (args.get(i)) {
        case "--listen" -> config.listen(ListenAddress.parse(value));
        case "--memory" -> config.memory(number(args.get(i), value));
        case "--spare" -> config.spares((int) number(args.get(i), value));
        case "--max-sessions" -> config.maxSessions((int) number(args.get(i), value));
        case "--max-guest-sessions" -> config.maxGuestSessions((int) number(args.get(i), value));
        case "--metrics" -> config.metrics(ListenAddress.parse(value));
        case "--require-isolation" ->
            config.jail(JailConfig.defaults().withRequired(value.equals("yes")));
        case "--rdma-ports" -> config.rdmaPorts(List.of(value.split(",")));
        case "--tokens", "--device" -> {}
        default -> throw new IllegalArgumentException("unknown option " + args.get(i));
      }
    }
    return config.build();
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
