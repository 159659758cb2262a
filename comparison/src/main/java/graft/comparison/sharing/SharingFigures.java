package graft.comparison.sharing;

import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.apache.commons.statistics.descriptive.Quantile;

/** Computes the figures, and their goals, from the measurements of {@link SharingBench}. */
final class SharingFigures {
  /** The most that a share may differ from what was asked for, in points. */
  private static final double MOST_POINTS = 1;

  /** The same in percent of the share. */
  private static final double MOST_PERCENT = 5;

  private static final double LEAST_FAIRNESS = 0.999;

  /** The least throughput, relative to that without shares and to that of native processes. */
  private static final double OF_UNSHARED = 0.985;

  private static final double OF_NATIVE = 0.98;

  /** The most that others may lengthen the 99th percentile if their kernels are short. */
  private static final double MOST_RATIO = 1.3;

  private static final long SHORT_KERNEL = 50;

  private final Scope scope;
  private final Results results;
  private final String channel;
  private final List<Figure> figures = new ArrayList<>();

  private SharingFigures(Scope scope, Results results, String channel) {
    this.scope = scope;
    this.results = results;
    this.channel = channel;
  }

  /** All figures of the parts that were measured. */
  static List<Figure> of(Scope scope, Results results, String channel) {
    SharingFigures made = new SharingFigures(scope, results, channel);
    made.shares();
    made.sessions();
    made.latency();
    made.oneAgainstMany();
    made.classes();
    return List.copyOf(made.figures);
  }

  private void shares() {
    for (long kernel : scope.kernels()) {
      OptionalDouble natively = inUse(used(SharingBench.NATIVE, Names.NATIVE_PAIR, kernel));
      for (List<Integer> asked : Scope.ASKED) {
        used(channel, Names.shares(asked), kernel)
            .ifPresent(
                used -> {
                  String what =
                      String.join(", ", asked.stream().map(String::valueOf).toList())
                          + " asked, kernels of "
                          + kernel
                          + " us";
                  errors(Part.SHARES, what, used, asked.stream().map(Double::valueOf).toList());
                  add(
                      figure(Part.SHARES, what, "GPU in use", "%", inUse(Optional.of(used)))
                          .beside(natively));
                });
      }
    }
  }

  private void errors(Part part, String what, Used used, List<Double> asked) {
    add(figure(part, what, "error of the shares", "points", used.error(asked)).atMost(MOST_POINTS));
    add(
        figure(part, what, "error of a share, of itself", "%", used.relativeError(asked))
            .atMost(MOST_PERCENT));
  }

  private void sessions() {
    for (long kernel : scope.ofSessions()) {
      for (int count : scope.counts()) {
        String name = Names.sessions(kernel);
        used(channel, name, count)
            .ifPresent(
                used ->
                    equalSessions(
                        count + " equal, kernels of " + kernel + " us",
                        used,
                        used(SharingBench.NATIVE, name, count),
                        used(SharingBench.UNSHARED, name, count)));
      }
    }
  }

  private void equalSessions(
      String what, Used used, Optional<Used> natively, Optional<Used> unshared) {
    add(
        figure(Part.SESSIONS, what, "GPU in use", "%", inUse(Optional.of(used)))
            .beside(inUse(natively)));
    add(
        figure(Part.SESSIONS, what, "Jain's index", "", used.fairness())
            .beside(natively.map(Used::fairness).orElse(OptionalDouble.empty()))
            .atLeast(LEAST_FAIRNESS));
    natively.ifPresent(
        of ->
            add(
                figure(Part.SESSIONS, what, "throughput / native", "", ratio(used, of))
                    .atLeast(OF_NATIVE)));
    unshared.ifPresent(
        of ->
            add(
                figure(Part.SESSIONS, what, "throughput / without shares", "", ratio(used, of))
                    .atLeast(OF_UNSHARED)));
    int count = used.seconds().size();
    if (count > 1) {
      errors(Part.SESSIONS, what, used, Collections.nCopies(count, 100.0 / count));
    }
  }

  private static OptionalDouble ratio(Used used, Used of) {
    return used.isComplete() && of.isComplete()
        ? OptionalDouble.of(used.total().getAsDouble() / of.total().getAsDouble())
        : OptionalDouble.empty();
  }

  private void latency() {
    List<Long> beside = new ArrayList<>(scope.kernels());
    beside.add(0, 0L);
    OptionalDouble alone = percentile(channel, 0, 0.99);
    OptionalDouble aloneNatively = percentile(SharingBench.NATIVE, 0, 0.99);
    for (long kernel : beside) {
      Measurement figure = Measurement.of(Names.REQUEST, kernel, "us");
      if (results.at(channel, figure).isEmpty()) {
        continue;
      }
      String what = kernel == 0 ? "requests alone" : "beside kernels of " + kernel + " us";
      OptionalDouble p99 = percentile(channel, kernel, 0.99);
      OptionalDouble nativeP99 = percentile(SharingBench.NATIVE, kernel, 0.99);
      add(
          figure(Part.LATENCY, what, "median", "us", percentile(channel, kernel, 0.5))
              .beside(percentile(SharingBench.NATIVE, kernel, 0.5)));
      add(figure(Part.LATENCY, what, "99th percentile", "us", p99).beside(nativeP99));
      if (kernel > 0) {
        Figure ratio =
            figure(Part.LATENCY, what, "99th percentile / alone", "", ratio(p99, alone))
                .beside(ratio(nativeP99, aloneNatively));
        add(alone.isEmpty() ? ratio : ratio.atMost(mostRatio(kernel, alone.getAsDouble())));
        OptionalDouble got = inUse(used(channel, Names.BESIDE, kernel));
        add(
            figure(Part.LATENCY, what, "GPU for the best-effort guest", "%", got)
                .beside(inUse(used(SharingBench.NATIVE, Names.BESIDE, kernel))));
      }
    }
  }

  /** Beside longer kernels a request may wait for the end of one. */
  private static double mostRatio(long kernel, double alone) {
    return kernel <= SHORT_KERNEL ? MOST_RATIO : 1 + kernel / alone;
  }

  private static OptionalDouble ratio(OptionalDouble value, OptionalDouble of) {
    return value.isPresent() && of.isPresent()
        ? OptionalDouble.of(value.getAsDouble() / of.getAsDouble())
        : OptionalDouble.empty();
  }

  private OptionalDouble percentile(String setting, long kernel, double part) {
    return results
        .at(setting, Measurement.of(Names.REQUEST, kernel, "us"))
        .map(Measurement::measured)
        .filter(samples -> !samples.isEmpty())
        .map(samples -> OptionalDouble.of(quantile(samples, part)))
        .orElse(OptionalDouble.empty());
  }

  static double quantile(List<Double> samples, double part) {
    double[] values = samples.stream().mapToDouble(Double::doubleValue).toArray();
    return Quantile.withDefaults().evaluate(values, part);
  }

  private void oneAgainstMany() {
    used(channel, Names.ONE_AND_MANY, Scope.MANY)
        .ifPresent(
            used -> {
              String what = "one session beside " + Scope.MANY + " of another guest, 50 asked each";
              OptionalDouble one = used.percent(0);
              OptionalDouble error =
                  one.isPresent()
                      ? OptionalDouble.of(Math.abs(one.getAsDouble() - 50))
                      : OptionalDouble.empty();
              add(figure(Part.ONE_AGAINST_MANY, what, "got by the one", "%", one));
              add(
                  figure(Part.ONE_AGAINST_MANY, what, "error of the shares", "points", error)
                      .atMost(MOST_POINTS));
            });
  }

  private void classes() {
    used(channel, Names.CLASSES, 0)
        .ifPresent(
            used -> {
              String what = "guaranteed 40, burstable 10, best-effort";
              add(figure(Part.CLASSES, what, "guaranteed got", "%", used.percent(0)).atLeast(39));
              add(figure(Part.CLASSES, what, "burstable got", "%", used.percent(1)));
              add(figure(Part.CLASSES, what, "best-effort got", "%", used.percent(2)).atMost(1));
            });
  }

  private OptionalDouble inUse(Optional<Used> used) {
    return used.map(u -> u.inUse(scope.seconds())).orElse(OptionalDouble.empty());
  }

  private Optional<Used> used(String setting, String name, long size) {
    return results.at(setting, Measurement.of(name, size, "s")).map(Used::of);
  }

  private static Figure figure(
      Part part, String what, String name, String unit, OptionalDouble value) {
    return Figure.of(part, what, name, unit, value);
  }

  private void add(Figure figure) {
    figures.add(figure);
  }
}
