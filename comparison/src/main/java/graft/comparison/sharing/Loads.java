package graft.comparison.sharing;

import graft.common.GraftException;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Runs loads at the same time.
 *
 * @param program {@code graft-workload}
 * @param seconds for which the loads are measured
 * @param limit the longest that a program may take beyond these seconds
 * @param warn receives a line for each program that failed
 */
record Loads(Path program, double seconds, Duration limit, Consumer<String> warn) {
  /** The time from the last program's readiness to the beginning of the measurement, in seconds. */
  private static final double LEAD = 1;

  /**
   * Returns the rounds of the kernel's loop that take a microsecond.
   *
   * @throws GraftException if the program fails, with its reason
   */
  double calibrate(ProgramEnvironment environment) throws IOException, InterruptedException {
    try (LoadProcess process =
        new LoadProcess(program, List.of("only=calibrate"), environment, limit)) {
      Optional<Measurement> rounds = process.result();
      return rounds
          .orElseThrow(
              () ->
                  new GraftException(
                      "the measuring program failed in the setting "
                          + environment.name()
                          + ": "
                          + process.lastWords(),
                      ""))
          .value();
    }
  }

  /**
   * Runs loads at the same time and returns what each measured, in the same order; empty for one
   * that failed.
   *
   * @param environment that of a guest
   */
  List<Optional<Measurement>> together(
      List<Load> loads, double rounds, Function<String, ProgramEnvironment> environment)
      throws IOException, InterruptedException {
    List<LoadProcess> processes = new ArrayList<>();
    try {
      for (Load load : loads) {
        processes.add(
            new LoadProcess(
                program,
                load.options(rounds, seconds),
                environment.apply(load.guest()),
                limit.plusMillis((long) (seconds * 1000))));
      }
      List<Boolean> ready = new ArrayList<>();
      for (LoadProcess process : processes) {
        ready.add(process.awaitReady());
      }
      double start = System.currentTimeMillis() / 1e3 + LEAD;
      for (int i = 0; i < processes.size(); i++) {
        if (ready.get(i)) {
          processes.get(i).begin(start);
        }
      }
      List<Optional<Measurement>> results = new ArrayList<>();
      for (int i = 0; i < processes.size(); i++) {
        Optional<Measurement> result = processes.get(i).result();
        if (result.isEmpty()) {
          warn.accept(
              "a program of " + loads.get(i).guest() + " failed: " + processes.get(i).lastWords());
        }
        results.add(result);
      }
      return results;
    } finally {
      processes.forEach(LoadProcess::close);
    }
  }

  /** One sample for each of several busy programs; null for one that failed. */
  static Measurement busy(String name, long size, List<Optional<Measurement>> results) {
    List<Double> samples = new ArrayList<>();
    results.forEach(result -> samples.add(result.map(Measurement::value).orElse(null)));
    return Measurement.of(name, size, "s", samples.toArray(Double[]::new));
  }
}
