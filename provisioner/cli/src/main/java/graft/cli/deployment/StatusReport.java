package graft.cli.deployment;

import graft.deployment.DeploymentStatus;
import graft.deployment.Deployments;
import graft.deployment.Drift;
import graft.deployment.ListedDeployment;
import graft.deployment.LiveCheck;
import graft.deployment.LiveFinding;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.StateFolder;
import graft.remoting.server.operate.OperatorClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One look at a deployment.
 *
 * @param text for people
 * @param tree for JSON
 * @param same whether the host does not differ from the descriptor, and everything answers
 */
public record StatusReport(String text, Map<String, Object> tree, boolean same) {
  /** How long what is asked may take to answer, unless the caller says another time. */
  private static final Duration LIMIT = Duration.ofSeconds(2);

  /**
   * Looks at a deployment.
   *
   * @param given the descriptor to compare with, or anything else to compare with the one that was
   *     applied
   * @param limit how long a server, a guest or a node may take to answer
   */
  static StatusReport of(StateFolder state, String given, Duration limit)
      throws InvalidDescriptorException {
    JournalState journal = Deployments.journal(state);
    Path file = Path.of(Files.exists(Path.of(given)) ? given : journal.descriptor());
    return look(state, journal, read(file), limit, open -> Drift.of(state, journal, file, open));
  }

  /**
   * Looks at a deployment and compares it with the descriptor that was applied. That the descriptor
   * is wrong by now, or the host cannot be compared, is an obstacle in the report.
   */
  public static StatusReport asApplied(StateFolder state) {
    JournalState journal = Deployments.journal(state);
    Path file = Path.of(journal.descriptor());
    Optional<Descriptor> descriptor = Optional.empty();
    try {
      descriptor = read(file);
    } catch (InvalidDescriptorException e) {
      // the comparison says so
    }
    return look(
        state,
        journal,
        descriptor,
        LIMIT,
        open -> {
          try {
            return Drift.of(state, journal, file, open);
          } catch (InvalidDescriptorException | RuntimeException e) {
            String why = e.getMessage() == null ? e.toString() : e.getMessage();
            List<ChannelChoice> channels = DeploymentStatus.channels(state, journal);
            return new Drift(file, List.of(why), List.of(), channels);
          }
        });
  }

  private static Optional<Descriptor> read(Path file) throws InvalidDescriptorException {
    return Drift.isThere(file)
        ? Optional.of(DescriptorReader.read(file).descriptor())
        : Optional.empty();
  }

  private interface Comparing<E extends Exception> {
    Drift with(Connections connections) throws E;
  }

  private static <E extends Exception> StatusReport look(
      StateFolder state,
      JournalState journal,
      Optional<Descriptor> descriptor,
      Duration limit,
      Comparing<E> comparing)
      throws E {
    try (Connections connections = new Connections()) {
      String name = state.deployment().text();
      LiveCheck check = new LiveCheck(name, journal, connections, OperatorClient::sessions, limit);
      // Guests answer late: they are asked while the host is compared.
      CompletableFuture<DeploymentStatus> status =
          CompletableFuture.supplyAsync(() -> new DeploymentStatus(journal, connections));
      CompletableFuture<List<LiveFinding>> asked =
          status.thenApply(found -> check.examine(found, descriptor));
      Drift drift = comparing.with(connections);
      List<LiveFinding> findings = asked.join();
      return of(state, journal, status.join(), drift, findings);
    }
  }

  static StatusReport of(
      StateFolder state,
      JournalState journal,
      DeploymentStatus status,
      Drift drift,
      List<LiveFinding> findings) {
    boolean same = drift.isNone() && findings.isEmpty();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", state.deployment().text());
    tree.put("descriptor", journal.descriptor());
    tree.put("uri", journal.uri());
    tree.put("state", ListedDeployment.word(journal));
    tree.put("partial", journal.isPartial());
    tree.put("servers", status.servers());
    tree.put("guests", status.guests());
    tree.put("channels", drift.channels().stream().map(ChannelChoice::toTree).toList());
    List<String> differences = new ArrayList<>(drift.obstacles());
    differences.addAll(drift.differences());
    tree.put("obstacles", drift.obstacles());
    tree.put("differences", differences);
    tree.put("findings", findings.stream().map(LiveFinding::toTree).toList());
    tree.put("inSync", same);
    return new StatusReport(text(state, journal, status, drift, findings), tree, same);
  }

  private static String text(
      StateFolder state,
      JournalState journal,
      DeploymentStatus status,
      Drift drift,
      List<LiveFinding> findings) {
    StringBuilder text = new StringBuilder(state.deployment().text());
    text.append(
        journal.isEmpty()
            ? ": not applied\n"
            : (journal.isPartial() ? ": half applied from " : ": applied from ")
                + journal.descriptor()
                + (journal.uri().isEmpty() ? "" : " on " + journal.uri())
                + "\n");
    text.append(StatusText.of(status));
    drift.channels().stream()
        .filter(choice -> choice.measured().isPresent())
        .forEach(choice -> text.append("  ").append(choice).append('\n'));
    list(text, "the comparison is not possible:", drift.obstacles());
    list(text, "differs from " + drift.descriptor() + "; graft apply would:", drift.differences());
    List<String> wrong = new ArrayList<>();
    for (LiveFinding finding : findings) {
      wrong.add(finding.toString());
      wrong.add("    fix: " + finding.fix());
    }
    list(text, "wrong now, and not repaired by graft apply:", wrong);
    return text.toString();
  }

  private static void list(StringBuilder text, String heading, List<String> lines) {
    if (!lines.isEmpty()) {
      text.append(heading).append('\n');
      lines.forEach(line -> text.append("  ").append(line).append('\n'));
    }
  }
}
