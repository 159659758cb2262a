package graft.cli.guest;

import graft.deployment.ChannelProbe;
import java.util.List;
import java.util.Map;

/** What {@code graft verify --channels} measured, for people. */
final class ChannelTable {
  private static final String FORMAT = "%-8s  %-32s  %13s  %13s  %13s  %s%n";

  private ChannelTable() {}

  /**
   * The rows as a table; bandwidth is that of pinned memory, which large copies of programs use.
   */
  static String of(List<Map<String, Object>> rows) {
    StringBuilder text = new StringBuilder();
    text.append(
        FORMAT.formatted("channel", "path", "round trip us", "there MB/s", "back MB/s", "result"));
    for (Map<String, Object> row : rows) {
      text.append(
          FORMAT.formatted(
              row.get("channel"),
              row.get("path"),
              row.getOrDefault(ChannelProbe.ROUND_TRIP, "-"),
              row.getOrDefault(ChannelProbe.TO_DEVICE, "-"),
              row.getOrDefault(ChannelProbe.TO_HOST, "-"),
              row.get("result")));
    }
    return text.toString();
  }
}
