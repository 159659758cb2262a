package graft.cli.session;

import graft.deployment.SmallRegion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Sessions as a table for people. What a device does not measure, or a server does not know, is
 * shown as {@code -} and never as 0.
 */
final class SessionTable {
  private static final String UNKNOWN = "-";
  private static final int WIDEST = 40;
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  private static final int UNIT = 1024;

  private static final List<String> HEADINGS =
      List.of(
          "SERVER",
          "GPU",
          "GUEST",
          "SESSION",
          "PROGRAM*",
          "PID*",
          "CHANNEL",
          "CLASS",
          "ASKED",
          "GOT",
          "GPU TIME",
          "WAITED",
          "STATE",
          "MEMORY",
          "LIMIT",
          "IN",
          "OUT",
          "SINCE");

  private record Row(double got, List<String> cells) {}

  private final SharesGot shares = new SharesGot();

  /**
   * The table. The share that a session got is that since the last call, or since the session began
   * if this is the first call that shows it. Sessions that got most are first.
   */
  String text(List<Servers.Answer> answers) {
    Map<String, Double> parts = shares.look(answers);
    List<Row> rows = new ArrayList<>();
    for (Servers.Answer answer : answers) {
      for (Map<?, ?> session : answer.sessions()) {
        Double got = parts.get(SharesGot.key(answer, session));
        rows.add(row(answer.from().toString(), session, got == null ? -1 : got));
      }
    }
    if (rows.isEmpty()) {
      return "no sessions\n" + waiting(answers) + smallRegions(answers);
    }
    rows.sort(Comparator.comparingDouble(Row::got).reversed());
    List<List<String>> all = new ArrayList<>(List.of(HEADINGS));
    rows.forEach(row -> all.add(row.cells()));
    return aligned(all) + "* as the guest claims\n" + waiting(answers) + smallRegions(answers);
  }

  /** A line for each guest whose region was too small. */
  private static String smallRegions(List<Servers.Answer> answers) {
    return answers.stream()
        .flatMap(
            answer -> SmallRegion.of(answer.tree()).stream().map(one -> answer.from() + ": " + one))
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  /** A line for each server for which clients wait for a place, with the guests in their order. */
  private static String waiting(List<Servers.Answer> answers) {
    StringBuilder lines = new StringBuilder();
    for (Servers.Answer answer : answers) {
      Map<String, Integer> guests = new LinkedHashMap<>();
      for (Object guest : answer.waiting()) {
        guests.merge(cell(guest), 1, Integer::sum);
      }
      if (!guests.isEmpty()) {
        List<String> counts =
            guests.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).toList();
        lines.append(answer.from()).append(": clients that wait for a place: ");
        lines.append(String.join(", ", counts)).append('\n');
      }
    }
    return lines.toString();
  }

  /**
   * A row of the table.
   *
   * @param got the part of the time in which the session used its GPU; negative if nobody knows
   */
  private static Row row(String server, Map<?, ?> session, double got) {
    return new Row(
        got,
        List.of(
            cell(server),
            cell(session.get("device")),
            cell(session.get("guest")),
            cell(session.get("session")),
            cell(session.get("claimedProgram")),
            cell(session.get("claimedPid")),
            cell(session.get("channel")),
            cell(session.get("class")),
            session.get("compute") instanceof Number n ? n.longValue() + "%" : UNKNOWN,
            got < 0 ? UNKNOWN : String.format(Locale.ROOT, "%.1f%%", 100 * got),
            seconds(session.get("gpuSeconds")),
            seconds(session.get("leaseWaitSeconds")),
            state(session.get("waiting")),
            bytes(session.get("memoryBytes")),
            bytes(
                session.get("memoryLimitBytes") == null
                    ? session.get("guestMemoryLimitBytes")
                    : session.get("memoryLimitBytes")),
            bytes(session.get("bytesIn")),
            bytes(session.get("bytesOut")),
            cell(session.get("since"))));
  }

  private static String state(Object waiting) {
    return waiting instanceof Boolean waits ? waits ? "waiting" : "" : UNKNOWN;
  }

  private static String seconds(Object value) {
    return value instanceof Number n
        ? String.format(Locale.ROOT, "%.1fs", n.doubleValue())
        : UNKNOWN;
  }

  private static String bytes(Object value) {
    if (!(value instanceof Number number)) {
      return UNKNOWN;
    }
    double size = number.doubleValue();
    int unit = 0;
    while (size >= UNIT && unit < UNITS.length - 1) {
      size /= UNIT;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f%s" : "%.1f%s", size, UNITS[unit]);
  }

  /** A text of a server or a guest as one short cell. */
  private static String cell(Object value) {
    if (value == null) {
      return UNKNOWN;
    }
    String text = value.toString().replaceAll("[\\p{Cntrl}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    return text.length() <= WIDEST ? text : text.substring(0, WIDEST - 1) + "~";
  }

  private static String aligned(List<List<String>> rows) {
    int[] widths = new int[HEADINGS.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
