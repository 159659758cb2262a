package graft.deployment;

import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.values.Endpoint;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.Node;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.programs.ServerQuestion;
import graft.deployment.step.host.HostServer;
import graft.guests.connection.GuestConnection;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Asks the servers, the guests and the nodes of a deployment whether they answer now. The journal
 * knows only that they did when the deployment was applied. All are asked at the same time, each
 * with a time limit.
 */
public final class LiveCheck {
  private static final Duration LOGIN = Duration.ofSeconds(15);
  private static final int AT_A_TIME = 16;
  private static final int MOST_CHARACTERS = 200;

  private final String deployment;
  private final JournalState journal;
  private final Connections connections;
  private final ServerQuestion question;
  private final Duration limit;

  /**
   * A check of a deployment.
   *
   * @param deployment its name, for the commands that findings name
   * @param limit how long a server, a guest or a node may take to answer a question; a login over
   *     SSH may take 15 s in any case
   */
  public LiveCheck(
      String deployment,
      JournalState journal,
      Connections connections,
      ServerQuestion question,
      Duration limit) {
    this.deployment = deployment;
    this.journal = journal;
    this.connections = connections;
    this.question = question;
    this.limit = limit;
  }

  /**
   * Asks everything that runs, and adds the answers to the status: {@code answers}, {@code
   * sessions} and {@code smallRegions} to servers, {@code answers} and {@code client} ({@code
   * current}, {@code stale}, {@code missing}) to guests.
   *
   * @param descriptor the descriptor with the nodes, where there is one
   * @return what is wrong, in the order of servers, guests and nodes
   */
  public List<LiveFinding> examine(DeploymentStatus status, Optional<Descriptor> descriptor) {
    List<Callable<Optional<LiveFinding>>> questions = new ArrayList<>();
    for (Map<String, Object> server : status.servers()) {
      if (server.containsKey("pid")) {
        questions.add(() -> server(server));
      }
    }
    List<String> withClient = AppliedGuest.withClient(journal);
    // All guests are compared with the same checksum, which is computed while they answer.
    Optional<CompletableFuture<String>> checksum =
        withClient.isEmpty() ? Optional.empty() : ClientState.checksumOfHost();
    for (Map<String, Object> guest : status.guests()) {
      AppliedGuest applied = AppliedGuest.of(journal, String.valueOf(guest.get("name")));
      if (DeploymentStatus.isRunning(guest) && isAsked(applied)) {
        questions.add(
            () -> guest(guest, applied, checksum.filter(c -> withClient.contains(applied.name()))));
      }
    }
    descriptor.ifPresent(d -> used(d).forEach(node -> questions.add(() -> node(node))));
    return all(questions);
  }

  private static List<LiveFinding> all(List<Callable<Optional<LiveFinding>>> questions) {
    if (questions.isEmpty()) {
      return List.of();
    }
    ExecutorService pool = Executors.newFixedThreadPool(Math.min(AT_A_TIME, questions.size()));
    try {
      List<LiveFinding> findings = new ArrayList<>();
      for (Future<Optional<LiveFinding>> answer : pool.invokeAll(questions)) {
        answer.get().ifPresent(findings::add);
      }
      return findings;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    } catch (ExecutionException e) {
      throw new IllegalStateException("asking what runs", e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  private Optional<LiveFinding> server(Map<String, Object> tree) {
    String gpu = String.valueOf(tree.get("gpu"));
    Path socket =
        journal.entries().values().stream()
            .map(entry -> entry.step())
            .filter(step -> step instanceof HostServer server && server.gpu().equals(gpu))
            .map(step -> ((HostServer) step).operator())
            .findFirst()
            .orElseThrow();
    try {
      Map<String, Object> answer = question.ask(socket, limit);
      if (answer.get("sessions") instanceof List<?> sessions) {
        tree.put("answers", true);
        tree.put("sessions", sessions.size());
        tree.put(
            SmallRegion.KEY,
            SmallRegion.of(answer).stream()
                .filter(small -> small.isThatOf(journal))
                .map(SmallRegion::toTree)
                .toList());
        return problem(gpu, answer);
      }
      throw new IOException("its answer has no sessions");
    } catch (IOException | IllegalArgumentException e) {
      tree.put("answers", false);
      return Optional.of(
          new LiveFinding(
              "GPU " + gpu,
              "its server runs and does not answer: " + line(e),
              "see graft logs "
                  + deployment
                  + " "
                  + gpu
                  + "; kill "
                  + tree.get("pid")
                  + ", then graft apply starts it again"));
    }
  }

  private Optional<LiveFinding> problem(String gpu, Map<String, Object> answer) {
    return answer.get("server") instanceof Map<?, ?> server
            && server.get("problem") instanceof String problem
        ? Optional.of(
            new LiveFinding(
                "GPU " + gpu,
                "it takes no new sessions: " + GuestText.line(problem, MOST_CHARACTERS),
                "graft stop "
                    + deployment
                    + " "
                    + gpu
                    + ", reset the GPU (nvidia-smi --gpu-reset) or start its machine again, graft"
                    + " start "
                    + deployment
                    + " "
                    + gpu
                    + "; after a change of the driver graft restart is enough"))
        : Optional.empty();
  }

  /** A guest that was never waited for may have neither an agent nor SSH. */
  private static boolean isAsked(AppliedGuest guest) {
    return guest.isConnected();
  }

  private Optional<LiveFinding> guest(
      Map<String, Object> tree, AppliedGuest guest, Optional<CompletableFuture<String>> client) {
    try {
      GuestConnection connection = guest.open(connections);
      boolean answers = connection.answers(limit(guest));
      tree.put("answers", answers);
      if (!answers) {
        return Optional.of(silent(guest, "it does not answer"));
      }
      return client.flatMap(checksum -> client(tree, guest, connection, checksum));
    } catch (GraftException | HypervisorException e) {
      tree.put("answers", false);
      return Optional.of(silent(guest, "it does not answer: " + line(e)));
    }
  }

  /** A login over a network takes longer than a question to an agent. */
  private Duration limit(AppliedGuest guest) {
    return guest.machine().isPresent() && limit.compareTo(LOGIN) < 0 ? LOGIN : limit;
  }

  private LiveFinding silent(AppliedGuest guest, String what) {
    if (guest.machine().isPresent()) {
      return new LiveFinding(
          "guest " + guest.name(),
          what,
          "start the machine "
              + guest.machine().get().machine()
              + ", or its SSH server or agent; if it is gone for good: graft forget "
              + deployment
              + " "
              + guest.name());
    }
    return new LiveFinding(
        "guest " + guest.name(),
        what,
        "see graft console "
            + deployment
            + " "
            + guest.name()
            + "; its agent or SSH server may have ended");
  }

  private Optional<LiveFinding> client(
      Map<String, Object> tree,
      AppliedGuest guest,
      GuestConnection connection,
      CompletableFuture<String> checksum) {
    ClientState found = ClientState.compare(connection, limit(guest), checksum);
    tree.put("client", found.word());
    return Optional.of(found)
        .filter(state -> state != ClientState.CURRENT)
        .filter(state -> guest.machine().isEmpty()) // a difference that graft apply repairs
        .map(
            state ->
                new LiveFinding(
                    "guest " + guest.name(),
                    "its client, " + ClientState.LIBRARY + ", " + state.phrase(),
                    "graft cp "
                        + deployment
                        + " "
                        + ClientFolder.path(System.getenv()).resolve("libcuda.so.1")
                        + " "
                        + guest.name()
                        + ":"
                        + Payload.CLIENT_FOLDER
                        + "/"));
  }

  private static List<Node> used(Descriptor descriptor) {
    return descriptor.nodes().stream()
        .filter(
            node ->
                descriptor.gpus().stream()
                    .anyMatch(
                        gpu ->
                            gpu.owner().kind() == Owner.Kind.NODE
                                && gpu.owner().name().equals(node.name())))
        .toList();
  }

  private Optional<LiveFinding> node(Node node) {
    Endpoint server = node.server();
    if (server.isUnix() || server.isVsock()) {
      return Optional.empty();
    }
    String host = server.host().replaceAll("^\\[|]$", "");
    try (Socket socket = new Socket()) {
      // 0 would be no limit.
      int millis = (int) Math.max(1, Math.min(Integer.MAX_VALUE, limit.toMillis()));
      socket.connect(new InetSocketAddress(host, server.port()), millis);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(
          new LiveFinding(
              "node " + node.name(),
              "nothing accepts connections at " + server + ": " + line(e),
              "start its server there, or correct the address"));
    }
  }

  private static String line(Exception e) {
    String text = e.getMessage() == null ? e.toString() : e.getMessage();
    return GuestText.line(text, MOST_CHARACTERS);
  }
}
