package graft.deployment.plan;

import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.ChannelMeasurement.Speed;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The order of channels by what was measured. */
final class FastestFirst {
  /** What two measurements of the same thing may differ by. */
  private static final double NOISE = 1.25;

  private FastestFirst() {}

  /**
   * Always next is the fastest that is left, or what comes before it in the usual order and is as
   * fast but for noise. Those that did not work come after all that did; one that was not measured
   * keeps its place.
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
