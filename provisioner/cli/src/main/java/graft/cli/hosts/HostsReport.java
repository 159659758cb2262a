package graft.cli.hosts;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.common.values.Name;
import graft.common.values.Seconds;
import graft.deployment.Consent;
import graft.deployment.hosts.HostReply;
import graft.deployment.hosts.HostReply.Outcome;
import graft.deployment.hosts.ManyHosts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Asks the hosts of a deployment, and prints what they answered as one answer. */
public final class HostsReport {
  /** The exit codes of an apply that leaves a host as it was before. */
  private static final Set<Integer> UNCHANGED =
      Set.of(ExitCode.FAILED, ExitCode.USAGE, ExitCode.DESCRIPTOR, ExitCode.HOST, ExitCode.BUSY);

  private final Output output;
  private final ManyHosts hosts;

  HostsReport(Output output, ManyHosts hosts) {
    this.output = output;
    this.hosts = hosts;
  }

  /** Prints what apply would do on each host. */
  public int plan() throws Exception {
    List<HostReply> replies = hosts.plan();
    List<Name> departed = hosts.departed();
    List<String> warnings = hosts.warnings();
    output.say(text(replies, departed, warnings));
    warn(replies);
    Map<String, Object> tree = tree(replies);
    tree.put("steps", steps(replies));
    tree.put("departed", departed.stream().map(Name::text).toList());
    tree.put("warnings", warnings);
    output.result(tree);
    return replies.stream().filter(r -> !r.isDone()).findFirst().map(HostsReport::code).orElse(0);
  }

  private static long steps(List<HostReply> replies) {
    return replies.stream().mapToLong(reply -> reply.objects("actions").size()).sum();
  }

  private String text(List<HostReply> replies, List<Name> departed, List<String> warnings) {
    StringBuilder text = new StringBuilder();
    warnings.forEach(warning -> text.append("warning: ").append(warning).append('\n'));
    replies.forEach(reply -> text.append(HostPlanText.of(reply).stripTrailing()).append('\n'));
    departed.forEach(
        host -> text.append(host).append(": not in the descriptor any more\n  - destroy\n"));
    return text.append(hosts.deployment())
        .append(": ")
        .append(steps(replies))
        .append(" steps on ")
        .append(count(replies.size(), "host"))
        .toString();
  }

  /** What apply would do; empty if it is nothing. */
  private String change() throws Exception {
    List<HostReply> replies = hosts.plan();
    List<Name> departed = hosts.departed();
    boolean none = departed.isEmpty() && replies.stream().allMatch(HostReply::isDone);
    return none && steps(replies) == 0 ? "" : text(replies, departed, hosts.warnings());
  }

  /**
   * Applies, and prints what became of each host.
   *
   * @param consent to what the plans of the hosts say
   */
  public int apply(Consent consent, boolean deleteData, boolean keep) throws Exception {
    consent.requireChange("apply", this::change);
    hosts.warnings().forEach(warning -> output.err().println("warning: " + warning));
    output.err().flush();
    long start = System.nanoTime();
    List<HostReply> replies = hosts.apply(deleteData, keep);
    boolean isWhole = changed("apply", replies);
    double seconds = Seconds.since(start);
    outcomes(replies, "nothing to do", steps -> "applied, " + steps);
    String time = String.format(Locale.ROOT, " in %.1f s", seconds);
    output.say(hosts.deployment() + (isWhole ? ": applied" + time : ": incomplete" + time));
    Map<String, Object> tree = tree(replies);
    tree.put("seconds", seconds);
    output.result(tree);
    return isWhole ? ExitCode.OK : incomplete(replies);
  }

  /** Takes back the last apply, or everything, and prints what became of each host. */
  public int back(String command, Consent consent, boolean deleteData) throws Exception {
    consent.requireChange(
        command, () -> hosts.deployment() + ": " + command + " on each of its hosts");
    List<HostReply> replies =
        command.equals("undo") ? hosts.undo(deleteData) : hosts.destroy(deleteData);
    boolean isWhole = changed(command, replies);
    outcomes(replies, "nothing to undo", steps -> steps + " undone");
    output.say(
        hosts.deployment() + (isWhole ? ": done" : ": incomplete; the same command goes on"));
    output.result(tree(replies));
    return isWhole ? ExitCode.OK : ExitCode.PARTIAL;
  }

  /** Prints what became of each host; {@code some} puts the number of its steps into words. */
  private void outcomes(List<HostReply> replies, String none, UnaryOperator<String> some) {
    for (HostReply reply : replies) {
      long steps = reply.number("steps");
      String done = steps == 0 ? none : some.apply(count(steps, "step"));
      output.say("  " + reply.host() + ": " + (reply.isDone() ? done : words(reply)));
    }
  }

  /** Prints the state of each host. */
  public int status() throws Exception {
    Status status = look();
    output.say(status.text.stripTrailing());
    output.result(status.tree);
    return status.same ? ExitCode.OK : ExitCode.DIFFERS;
  }

  /** One look, for a status that is shown again and again. */
  public int statusAgain(String now) throws Exception {
    Status status = look();
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", now);
    line.putAll(status.tree);
    output.clearScreen();
    output.say(now + "\n" + status.text.stripTrailing());
    output.resultLine(line);
    return status.same ? ExitCode.OK : ExitCode.DIFFERS;
  }

  private record Status(String text, Map<String, Object> tree, boolean same) {}

  private Status look() throws Exception {
    List<HostReply> replies = hosts.status();
    warn(replies);
    boolean same = replies.stream().allMatch(HostStatusTable::isSame);
    Map<String, Object> tree = tree(replies);
    tree.put("inSync", same);
    return new Status(hosts.deployment() + "\n" + HostStatusTable.of(replies), tree, same);
  }

  private boolean changed(String command, List<HostReply> replies) {
    warn(replies);
    boolean isWhole = replies.stream().allMatch(HostReply::isDone);
    OperatorAudit.write(
        output.err(),
        command,
        Map.of(
            "deployment",
            hosts.deployment().text(),
            "hosts",
            replies.size(),
            "outcome",
            isWhole ? "done" : "partial"));
    return isWhole;
  }

  private void warn(List<HostReply> replies) {
    for (HostReply reply : replies) {
      if (!reply.clockWarning().isEmpty()) {
        output.err().println("warning: " + reply.clockWarning());
      }
      if (!reply.isDone() && output.isJson()) { // else the text says it
        output.err().println(reply.host() + ": " + words(reply));
      }
    }
    output.err().flush();
  }

  static String words(HostReply reply) {
    return switch (reply.outcome()) {
      case UNREACHABLE -> "NOT REACHED: " + reply.error();
      case NOT_BEGUN -> reply.error();
      default -> "FAILED: " + reply.error();
    };
  }

  private static int code(HostReply reply) {
    return reply.outcome() == Outcome.UNREACHABLE ? ExitCode.HOST : reply.code();
  }

  /**
   * The exit code of an apply that failed on some host: 1 or the host's own if every host is as it
   * was before.
   */
  private static int incomplete(List<HostReply> replies) {
    boolean isUnchanged =
        replies.stream()
            .allMatch(
                reply ->
                    reply.outcome() == Outcome.NOT_BEGUN
                        || (reply.outcome() == Outcome.FAILED && UNCHANGED.contains(reply.code()))
                        || (reply.isDone() && reply.number("steps") == 0));
    return isUnchanged
        ? replies.stream()
            .filter(reply -> reply.outcome() == Outcome.FAILED)
            .findFirst()
            .map(HostReply::code)
            .orElse(ExitCode.FAILED)
        : ExitCode.PARTIAL;
  }

  private Map<String, Object> tree(List<HostReply> replies) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", hosts.deployment().text());
    List<Object> list = new ArrayList<>();
    replies.forEach(reply -> list.add(reply.toTree()));
    tree.put("hosts", list);
    return tree;
  }

  static String count(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
