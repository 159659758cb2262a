package graft.cli.session;

import graft.cli.terminal.Output;
import graft.deployment.Deployments;
import graft.deployment.OperatedServer;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.remoting.server.operate.OperatorClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The servers that a command asks. */
public final class Servers {
  /** What to say if there is no server to ask. */
  static final String NONE =
      "no server runs here that this user may ask; --socket names that of graft serve --operator";

  private static final Duration LIMIT = Duration.ofSeconds(15);

  @Parameters(
      arity = "0..1",
      paramLabel = "DESCRIPTOR|NAME",
      description =
          "The descriptor, or the name of a deployment that was applied (default: all servers of"
              + " this user on this host).")
  String given;

  @Option(
      names = "--socket",
      paramLabel = "SOCKET",
      description = "Ask only the server with this socket, see graft serve --operator.")
  Path socket;

  /**
   * What a server has answered.
   *
   * @param tree the answer; a map with the key {@code error} if there was none
   */
  public record Answer(OperatedServer from, Map<String, Object> tree) {
    public boolean isError() {
      return tree.containsKey("error");
    }

    /** The sessions. A server that is not sound may have answered anything. */
    public List<Map<?, ?>> sessions() {
      List<Map<?, ?>> sessions = new ArrayList<>();
      if (tree.get("sessions") instanceof List<?> list) {
        for (Object each : list) {
          if (each instanceof Map<?, ?> session) {
            sessions.add(session);
          }
        }
      }
      return sessions;
    }

    /** The guest of each client that waits for a place. */
    public List<?> waiting() {
      return tree.get("server") instanceof Map<?, ?> server
              && server.get("waiting") instanceof List<?> list
          ? list
          : List.of();
    }

    Map<String, Object> toTree() {
      Map<String, Object> whole = new LinkedHashMap<>();
      whole.put("deployment", from.deployment().orElse(null));
      whole.put("name", from.name());
      whole.put("socket", from.socket().toString());
      whole.putAll(tree);
      return whole;
    }
  }

  /** The servers of the deployment that was named, or of the socket; else all. */
  List<OperatedServer> chosen() throws InvalidDescriptorException {
    if (socket != null) {
      return List.of(OperatedServer.at(socket.toAbsolutePath()));
    }
    return given == null ? OperatedServer.all() : OperatedServer.of(Deployments.find(given));
  }

  /** Asks the chosen servers for their sessions. */
  List<Answer> ask() throws InvalidDescriptorException {
    return chosen().stream().map(Servers::ask).toList();
  }

  private static Answer ask(OperatedServer server) {
    return ask(server, LIMIT);
  }

  /**
   * Asks a server for its sessions.
   *
   * @param limit how long to wait for the answer
   */
  public static Answer ask(OperatedServer server, Duration limit) {
    try {
      return new Answer(server, OperatorClient.sessions(server.socket(), limit));
    } catch (IOException | IllegalArgumentException e) {
      return new Answer(server, Map.of("error", String.valueOf(e.getMessage())));
    }
  }

  /** Says which servers have not answered; returns whether all have. */
  static boolean allAnswered(List<Answer> answers, Output output) {
    List<Answer> silent = answers.stream().filter(Answer::isError).toList();
    for (Answer answer : silent) {
      output.err().println(answer.from() + " does not answer: " + answer.tree().get("error"));
    }
    output.err().flush();
    return silent.isEmpty();
  }
}
