package graft.deployment.plan;

import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.ChannelMeasurement.Speed;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The order of channels by their measurements. */
final class FastestFirst {
  /** The noise: the factor by which two measurements of the same channel may differ. */
  private static final double NOISE = 1.25;

  private FastestFirst() {}

  /**
   * Each place goes to the fastest remaining channel, or to one before it in the usual order whose
   * measurement differs by no more than noise. Channels that failed come last; a channel that was
   * not measured keeps its place.
   */
  static List<String> order(List<String> usual, List<ChannelMeasurement.Figures> measured) {
    Map<String, Optional<Speed>> speeds = new LinkedHashMap<>();
    measured.forEach(figures -> speeds.put(figures.address(), figures.speed()));
    Map<String, Double> times = new LinkedHashMap<>();
    List<String> broken = new ArrayList<>();
    for (String address : usual) {
      if (speeds.containsKey(address)) {
        speeds
            .get(address)
            .ifPresentOrElse(speed -> times.put(address, speed.time()), () -> broken.add(address));
      }
    }
    List<String> ordered = new ArrayList<>();
    while (!times.isEmpty()) {
      double best = times.values().stream().min(Double::compare).orElseThrow();
      String next =
          times.keySet().stream()
              .filter(address -> times.get(address) <= best * NOISE)
              .findFirst()
              .orElseThrow();
      ordered.add(next);
      times.remove(next);
    }
    ordered.addAll(broken);
    Iterator<String> places = ordered.iterator();
    return usual.stream()
        .map(address -> speeds.containsKey(address) ? places.next() : address)
        .toList();
  }
}
