package graft.cli.guest;

import graft.comparison.results.Measurement;
import graft.deployment.ChannelProbe;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import java.util.ArrayList;
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

  /** The same as results, in which a channel is a setting; those that do not work are left out. */
  static List<Measurement> results(String guest, ChannelMeasurement measured) {
    List<Measurement> results = new ArrayList<>();
    for (ChannelMeasurement.Figures channel : measured.channels()) {
      String setting = ChannelChoice.channel(channel.address());
      channel
          .speed()
          .ifPresent(
              speed -> {
                results.add(
                    Measurement.of(guest + ": round trip", 0, "us", speed.roundTrip()).in(setting));
                results.add(
                    Measurement.of(guest + ": there", 0, "MB/s", speed.toDevice()).in(setting));
                results.add(
                    Measurement.of(guest + ": back", 0, "MB/s", speed.toHost()).in(setting));
              });
    }
    return results;
  }
}
