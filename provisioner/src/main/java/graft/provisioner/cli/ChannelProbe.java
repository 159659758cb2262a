package graft.provisioner.cli;

import graft.provisioner.reach.CudaCheck;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Every channel that a running guest is set up for, measured one after the other by the same CUDA
 * program: {@code graft verify --channels}.
 */
final class ChannelProbe {
  private static final String CONFIGURATION = "/etc/graft/client.conf";
  private static final String FORMAT = "%-8s  %-32s  %13s  %13s  %13s  %s%n";

  private static final String ROUND_TRIP = "round_trip_us";
  private static final String BANDWIDTH = "pinned_to_device_mb_s";

  /** What two measurements of the same thing may differ by. */
  private static final double NOISE = 1.25;

  private final Guest guest;

  ChannelProbe(Guest guest) {
    this.guest = guest;
  }

  /** Runs programs in the guest. */
  interface Guest {
    /** What a program printed, whether it succeeded or not. */
    String run(List<String> words);
  }

  /** A row for each channel, in the order in which the client tries them. */
  List<Map<String, Object>> rows() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (String address : addresses()) {
      rows.add(row(address));
    }
    return rows;
  }

  private List<String> addresses() {
    return guest
        .run(List.of("cat", CONFIGURATION))
        .lines()
        .filter(line -> line.startsWith("server ="))
        .flatMap(
            line -> List.of(line.substring(line.indexOf('=') + 1).strip().split("[, ]+")).stream())
        .toList();
  }

  private Map<String, Object> row(String address) {
    String program = CudaCheck.PROGRAM;
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("channel", address.replaceFirst("(\\+vsock)?://.*", ""));
    row.put("path", address);
    StringBuilder said = new StringBuilder();
    guest
        .run(List.of("env", "GRAFT_SERVER=" + address, program))
        .lines()
        .forEach(
            line -> {
              int equals = line.indexOf('=');
              if (equals > 0 && !line.startsWith("graft: ")) {
                row.putIfAbsent(line.substring(0, equals), line.substring(equals + 1));
              } else {
                said.append(said.isEmpty() ? "" : "; ").append(line.strip());
              }
            });
    if (!"ok".equals(row.get("result")) && !said.isEmpty()) {
      row.put("result", "failed: " + said);
    }
    row.putIfAbsent("result", "failed: the program said nothing");
    return row;
  }

  /**
   * The rows as a table; bandwidth is that of pinned memory, as a program's large copies have it.
   */
  static String table(List<Map<String, Object>> rows) {
    StringBuilder text = new StringBuilder();
    text.append(
        FORMAT.formatted("channel", "path", "round trip us", "there MB/s", "back MB/s", "result"));
    for (Map<String, Object> row : rows) {
      text.append(
          FORMAT.formatted(
              row.get("channel"),
              row.get("path"),
              row.getOrDefault(ROUND_TRIP, "-"),
              row.getOrDefault(BANDWIDTH, "-"),
              row.getOrDefault("pinned_to_host_mb_s", "-"),
              row.get("result")));
    }
    return text.toString();
  }

  /**
   * What the client takes, which is the first that works, and whether another one is faster by what
   * was measured.
   */
  static String choice(List<Map<String, Object>> rows) {
    List<Map<String, Object>> working = rows.stream().filter(ChannelProbe::works).toList();
    if (working.isEmpty()) {
      return "the client has no channel that works";
    }
    Map<String, Object> taken = working.get(0);
    StringJoiner faster = new StringJoiner("; ");
    for (Map<String, Object> other : working) {
      if (number(other, ROUND_TRIP) * NOISE < number(taken, ROUND_TRIP)) {
        faster.add(other.get("path") + " has a shorter round trip");
      }
      if (number(other, BANDWIDTH) > number(taken, BANDWIDTH) * NOISE) {
        faster.add(other.get("path") + " carries more");
      }
    }
    return "the client takes "
        + taken.get("path")
        + (faster.length() == 0
            ? ", and none is faster"
            : ", but " + faster + ": vgpu: {channel: ...} in the descriptor chooses");
  }

  /** A figure of a row; NaN, which is neither more nor less, if it has none. */
  private static double number(Map<String, Object> row, String key) {
    Object value = row.get(key);
    return value == null ? Double.NaN : Double.parseDouble(value.toString());
  }

  /** Large copies to the device, in 10^6 bytes a second. */
  static String bandwidth(Map<String, Object> row) {
    return row.getOrDefault(BANDWIDTH, "-").toString();
  }

  static boolean works(Map<String, Object> row) {
    return "ok".equals(row.get("result"));
  }

  /** Whether the program succeeded over each of them. */
  static boolean allWork(List<Map<String, Object>> rows) {
    return !rows.isEmpty() && rows.stream().allMatch(ChannelProbe::works);
  }
}
