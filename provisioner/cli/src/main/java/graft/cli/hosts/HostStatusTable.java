package graft.cli.hosts;

import graft.deployment.hosts.HostReply;
import graft.hypervisors.libvirt.calls.GuestText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The state of many hosts: a line for each, and below it what is not as it should be. */
final class HostStatusTable {
  private static final List<String> HEADINGS = List.of("HOST", "STATE", "DRIFT", "GPUS", "GUESTS");
  private static final int MOST_CHARACTERS = 500;
  private static final String NOTHING = "-";

  private HostStatusTable() {}

  /** What another machine wrote, on one line. */
  static String line(Object text) {
    return GuestText.line(String.valueOf(text), MOST_CHARACTERS);
  }

  /** Whether a host answers, and has what the descriptor says. */
  static boolean isSame(HostReply reply) {
    return reply.isDone() && Boolean.TRUE.equals(reply.tree().get("inSync"));
  }

  static String of(List<HostReply> replies) {
    List<List<String>> rows = new ArrayList<>(List.of(HEADINGS));
    replies.forEach(reply -> rows.add(row(reply)));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < HEADINGS.size(); column++) {
        int at = column;
        int width = rows.stream().mapToInt(row -> row.get(at).length()).max().orElse(0);
        String cell = rows.get(i).get(column);
        line.append(cell).append(" ".repeat(width - cell.length() + 2));
      }
      text.append(line.toString().stripTrailing()).append('\n');
      if (i > 0) {
        details(text, replies.get(i - 1));
      }
    }
    return text.toString();
  }

  private static List<String> row(HostReply reply) {
    if (!reply.isDone()) {
      boolean failed = reply.outcome() == HostReply.Outcome.FAILED;
      return List.of(
          reply.host().text(), failed ? "FAILED" : "NOT REACHED", "unknown", NOTHING, NOTHING);
    }
    return List.of(
        reply.host().text(),
        line(reply.tree().get("state")),
        isSame(reply) ? "none" : "differs",
        each(reply, "servers", "gpu"),
        each(reply, "guests", "name"));
  }

  private static String each(HostReply reply, String list, String name) {
    List<String> all =
        reply.objects(list).stream()
            .map(one -> line(one.get(name)) + " " + line(one.get("state")))
            .toList();
    return all.isEmpty() ? NOTHING : String.join(", ", all);
  }

  private static void details(StringBuilder text, HostReply reply) {
    if (!reply.isDone()) {
      text.append("  ").append(reply.error()).append('\n');
      return;
    }
    for (String difference : reply.texts("differences")) {
      text.append("  graft apply would: ").append(line(difference)).append('\n');
    }
    for (Map<?, ?> finding : reply.objects("findings")) {
      text.append("  wrong: ")
          .append(line(finding.get("subject")))
          .append(": ")
          .append(line(finding.get("what")));
      text.append("\n    fix: ").append(line(finding.get("fix"))).append('\n');
    }
  }
}
