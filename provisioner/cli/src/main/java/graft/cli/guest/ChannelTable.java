package graft.cli.guest;

import graft.comparison.results.Measurement;
import graft.deployment.ChannelProbe;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The measurements of {@code graft verify --channels} as text. */
final class ChannelTable {
  private static final String FORMAT = "%-8s  %-32s  %13s  %13s  %13s  %s%n";

  private ChannelTable() {}

  /**
   * The rows as a table. The bandwidth is that of pinned memory, which programs use for large
   * copies.
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

  /**
   * The measurements as results in which each channel is a setting. Channels that do not work are
   * omitted.
   */
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
