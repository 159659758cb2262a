package graft.deployment.state;

import graft.common.json.Json;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A measurement of the channels of a guest.
 *
 * @param when to the second
 * @param basis what the channels depended on; the figures are invalid once a line of it has changed
 * @param channels in the order in which the guest's client tried them
 */
public record ChannelMeasurement(Instant when, List<String> basis, List<Figures> channels) {

  /**
   * The measurement of one channel.
   *
   * @param address as in the client's configuration
   * @param speed absent if it does not work
   */
  public record Figures(String address, Optional<Speed> speed) {
    /** For display: {@code tcp://a:1 (round trip 16 us, 5000 MB/s to the device, 4000 from it)}. */
    @Override
    public String toString() {
      return address + " (" + speed.map(Speed::toString).orElse("does not work") + ")";
    }
  }

  /**
   * The speed of a channel that works.
   *
   * @param roundTrip of a call that waits for an answer, in us
   * @param toDevice of large copies from pinned memory, in 10^6 bytes a second
   * @param toHost the same from the device
   */
  public record Speed(double roundTrip, double toDevice, double toHost) {
    private static final int ROUND_TRIPS = 8;
    private static final double BYTES_EACH_WAY = 1e6;

    /** {@link #time} in words. */
    public static final String OF = "8 round trips and 1 MB each way";

    /**
     * The time in us by which channels are compared. It models a program's mix of waits and copies:
     * PyTorch's GPT-2 waits once for each 0.27 MB that it copies (docs/performance.md).
     */
    public double time() {
      return ROUND_TRIPS * roundTrip + BYTES_EACH_WAY / toDevice + BYTES_EACH_WAY / toHost;
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "round trip %.1f us, %.0f MB/s to the device, %.0f MB/s from it: %.0f us",
          roundTrip,
          toDevice,
          toHost,
          time());
    }
  }

  /** The channels' addresses, in the order in which the client tried them. */
  public List<String> addresses() {
    return channels.stream().map(Figures::address).toList();
  }

  /** As a tree of JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("when", when.toString());
    tree.put("basis", basis);
    tree.put("channels", channels.stream().map(ChannelMeasurement::tree).toList());
    return tree;
  }

  private static Map<String, Object> tree(Figures figures) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("address", figures.address());
    tree.put("works", figures.speed().isPresent());
    figures
        .speed()
        .ifPresent(
            speed -> {
              tree.put("round_trip_us", speed.roundTrip());
              tree.put("to_device_mb_s", speed.toDevice());
              tree.put("to_host_mb_s", speed.toHost());
              tree.put("time_us", speed.time());
            });
    return tree;
  }

  /**
   * Reads what {@link #toTree} wrote.
   *
   * @throws IOException if it is something else
   */
  static ChannelMeasurement parse(String text) throws IOException {
    Map<String, Object> tree = Json.readObject(text);
    try {
      return new ChannelMeasurement(
          Instant.parse(String.valueOf(tree.get("when"))),
          list(tree, "basis").stream().map(String::valueOf).toList(),
          list(tree, "channels").stream().map(ChannelMeasurement::figures).toList());
    } catch (ClassCastException | NullPointerException | DateTimeException e) {
      throw new IOException("not what graft verify --channels writes: " + text, e);
    }
  }

  private static List<?> list(Map<String, Object> tree, String key) {
    return (List<?>) tree.get(key);
  }

  private static Figures figures(Object item) {
    Map<?, ?> tree = (Map<?, ?>) item;
    Optional<Speed> speed =
        Boolean.TRUE.equals(tree.get("works"))
            ? Optional.of(
                new Speed(
                    number(tree, "round_trip_us"),
                    number(tree, "to_device_mb_s"),
                    number(tree, "to_host_mb_s")))
            : Optional.empty();
    return new Figures((String) tree.get("address"), speed);
  }

  private static double number(Map<?, ?> tree, String key) {
    return ((Number) tree.get(key)).doubleValue();
  }
}
