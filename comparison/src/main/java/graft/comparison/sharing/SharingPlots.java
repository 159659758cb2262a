package graft.comparison.sharing;

import graft.comparison.report.CurvesDrawing;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** Draws the measurements of {@link SharingBench}. */
final class SharingPlots {
  /** The percentiles of a distribution that are drawn. */
  private static final List<Double> PERCENTILES =
      List.of(1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0);

  private final Scope scope;
  private final Results results;
  private final String channel;

  SharingPlots(Scope scope, Results results, String channel) {
    this.scope = scope;
    this.results = results;
    this.channel = channel;
  }

  /** The drawings as SVG by the names of their files; none of a part that was not measured. */
  Map<String, String> draw() {
    Map<String, String> drawings = new LinkedHashMap<>();
    shares().ifPresent(svg -> drawings.put("shares.svg", svg));
    sessions().ifPresent(svg -> drawings.put("sessions.svg", svg));
    latency().ifPresent(svg -> drawings.put("latency.svg", svg));
    return drawings;
  }

  /** The shares that two guests asked for and got. */
  private Optional<String> shares() {
    Map<String, SortedMap<Double, Double>> curves = new LinkedHashMap<>();
    SortedMap<Double, Double> asked = new TreeMap<>();
    for (long kernel : scope.kernels()) {
      SortedMap<Double, Double> got = new TreeMap<>();
      for (List<Integer> pair : Scope.ASKED) {
        Optional<Used> used = used(channel, Names.shares(pair), kernel).filter(Used::isComplete);
        for (int i = 0; used.isPresent() && pair.size() == 2 && i < 2; i++) {
          double share = pair.get(i);
          asked.put(share, share);
          got.put(share, used.get().percent(i).getAsDouble());
        }
      }
      put(curves, "kernels of " + kernel + " us", got);
    }
    if (curves.isEmpty()) {
      return Optional.empty();
    }
    curves.put("asked", asked);
    return Optional.of(
        new CurvesDrawing("share asked, percent", SharingPlots::whole)
            .plot("Share got over share asked", "share got, percent", false, curves)
            .draw());
  }

  private Optional<String> sessions() {
    CurvesDrawing drawing = new CurvesDrawing("sessions", SharingPlots::whole);
    boolean isEmpty = true;
    for (long kernel : scope.ofSessions()) {
      String kernels = ", kernels of " + kernel + " us";
      Map<String, SortedMap<Double, Double>> inUse =
          bySetting(kernel, used -> used.inUse(scope.seconds()));
      if (!inUse.isEmpty()) {
        isEmpty = false;
        drawing.plot("GPU in use over sessions" + kernels, "percent", false, inUse);
        drawing.plot(
            "Jain's index over sessions" + kernels,
            "index",
            false,
            bySetting(kernel, Used::fairness));
      }
    }
    return isEmpty ? Optional.empty() : Optional.of(drawing.draw());
  }

  private Map<String, SortedMap<Double, Double>> bySetting(
      long kernel, Function<Used, OptionalDouble> figure) {
    Map<String, SortedMap<Double, Double>> curves = new LinkedHashMap<>();
    for (String setting : List.of(channel, SharingBench.NATIVE, SharingBench.UNSHARED)) {
      SortedMap<Double, Double> values = new TreeMap<>();
      for (int count : scope.counts()) {
        used(setting, Names.sessions(kernel), count)
            .map(figure)
            .filter(OptionalDouble::isPresent)
            .ifPresent(value -> values.put((double) count, value.getAsDouble()));
      }
      put(curves, setting, values);
    }
    return curves;
  }

  /** The distributions of the requests' times. */
  private Optional<String> latency() {
    CurvesDrawing drawing = new CurvesDrawing("percentile", SharingPlots::percentile);
    boolean isEmpty = true;
    for (String setting : List.of(channel, SharingBench.NATIVE)) {
      Map<String, SortedMap<Double, Double>> curves = new LinkedHashMap<>();
      for (Measurement figure : results.figures()) {
        if (figure.name().equals(Names.REQUEST)) {
          put(curves, beside(figure.size()), distribution(setting, figure));
        }
      }
      if (!curves.isEmpty()) {
        isEmpty = false;
        drawing.plot("Time of requests by percentile, " + setting, "us", true, curves);
      }
    }
    return isEmpty ? Optional.empty() : Optional.of(drawing.draw());
  }

  private SortedMap<Double, Double> distribution(String setting, Measurement figure) {
    SortedMap<Double, Double> values = new TreeMap<>();
    results
        .at(setting, figure)
        .map(Measurement::measured)
        .filter(samples -> !samples.isEmpty())
        .ifPresent(
            samples ->
                PERCENTILES.forEach(p -> values.put(p, SharingFigures.quantile(samples, p / 100))));
    return values;
  }

  private static String beside(long kernel) {
    return kernel == 0 ? "alone" : "beside kernels of " + kernel + " us";
  }

  private static void put(
      Map<String, SortedMap<Double, Double>> curves,
      String name,
      SortedMap<Double, Double> values) {
    if (!values.isEmpty()) {
      curves.put(name, values);
    }
  }

  private Optional<Used> used(String setting, String name, long size) {
    return results.at(setting, Measurement.of(name, size, "s")).map(Used::of);
  }

  private static String whole(double value) {
    return Long.toString(Math.round(value));
  }

  private static String percentile(double value) {
    return value == Math.rint(value) ? whole(value) : Double.toString(value);
  }
}
