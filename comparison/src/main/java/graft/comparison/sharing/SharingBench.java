package graft.comparison.sharing;

import graft.common.grants.Share;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Measures how programs share a GPU: guests of a private server and, beside them in the same run,
 * native processes, among which the driver divides the time.
 */
public final class SharingBench {
  /** The setting of native processes. */
  static final String NATIVE = "native";

  /** The setting of guests of which none has a share, so that nothing waits for a turn. */
  static final String UNSHARED = "without shares";

  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Scope scope;
  private final PrivateServer server;
  private final String channel;
  private final Path client;
  private final Optional<ProgramEnvironment> local;
  private final Consumer<String> progress;
  private final Loads loads;
  private final Results results = new Results();
  private double rounds;

  /**
   * Prepares a measurement.
   *
   * @param program {@code graft-workload}
   * @param channel the channel that the guests use
   * @param client the folder of the client's libraries
   * @param local the environment of native processes; empty if the device has no native driver
   * @param progress receives a line for each case, and for each program that fails
   */
  public SharingBench(
      Scope scope,
      Path program,
      PrivateServer server,
      String channel,
      Path client,
      Optional<ProgramEnvironment> local,
      Consumer<String> progress) {
    this.scope = scope;
    this.server = server;
    this.channel = channel;
    this.client = client;
    this.local = local;
    this.progress = progress;
    this.loads = new Loads(program, scope.seconds(), LIMIT, progress);
  }

  /**
   * Measures all parts. A program that fails is a sample that is null.
   *
   * @throws graft.common.GraftException if not even the calibration works
   */
  public Results measure() throws IOException, InterruptedException {
    progress.accept("calibrates the kernels");
    guests(Map.of("a", Optional.empty()));
    rounds = loads.calibrate(local.orElseGet(() -> environment("a")));
    results.add(Measurement.of(Names.SECONDS, 0, "s", scope.seconds()).in(channel));
    for (Part part : Part.values()) {
      if (scope.parts().contains(part)) {
        switch (part) {
          case SHARES -> shares();
          case SESSIONS -> sessions();
          case LATENCY -> latency();
          case ONE_AGAINST_MANY -> oneAgainstMany();
          case CLASSES -> classes();
        }
      }
    }
    return results;
  }

  private void shares() throws IOException, InterruptedException {
    for (long kernel : scope.kernels()) {
      busyNatively(Names.NATIVE_PAIR, kernel, kernel, 2);
      for (List<Integer> asked : Scope.ASKED) {
        Map<String, Optional<Share>> guests = new LinkedHashMap<>();
        for (int i = 0; i < asked.size(); i++) {
          guests.put("g" + i, share(Share.Type.GUARANTEED, asked.get(i)));
        }
        busy(channel, Names.shares(asked), kernel, kernel, guests);
      }
    }
  }

  private void sessions() throws IOException, InterruptedException {
    for (long kernel : scope.ofSessions()) {
      for (int count : scope.counts()) {
        String name = Names.sessions(kernel);
        busyNatively(name, count, kernel, count);
        if (local.isPresent()) {
          // On the software device sessions without shares use as many cores as there are.
          busy(UNSHARED, name, count, kernel, equal(count, Optional.empty()));
        }
        busy(channel, name, count, kernel, equal(count, share(Share.Type.BURSTABLE, 10)));
      }
    }
  }

  private static Map<String, Optional<Share>> equal(int count, Optional<Share> share) {
    Map<String, Optional<Share>> guests = new LinkedHashMap<>();
    IntStream.range(0, count).forEach(i -> guests.put("g" + i, share));
    return guests;
  }

  private void latency() throws IOException, InterruptedException {
    Map<String, Optional<Share>> guests = new LinkedHashMap<>();
    guests.put("requests", Optional.of(new Share(Share.Type.GUARANTEED, 50, Share.Priority.HIGH)));
    guests.put("others", share(Share.Type.BEST_EFFORT, 0));
    List<Long> beside = new ArrayList<>(scope.kernels());
    beside.add(0, 0L);
    for (long kernel : beside) {
      List<Load> together = new ArrayList<>(List.of(Load.calls("requests", Scope.REQUEST)));
      if (kernel > 0) {
        together.add(Load.busy("others", kernel));
      }
      String what = "requests " + (kernel > 0 ? "beside kernels of " + kernel + " us" : "alone");
      if (local.isPresent()) {
        requests(NATIVE, kernel, run(NATIVE, what, together));
      }
      guests(guests);
      requests(channel, kernel, run(channel, what, together));
    }
  }

  private void requests(String setting, long kernel, List<Optional<Measurement>> measured) {
    List<Double> failed = Collections.singletonList(null);
    List<Double> samples = measured.get(0).map(Measurement::samples).orElse(failed);
    Measurement calls = Measurement.of(Names.REQUEST, kernel, "us", samples.toArray(Double[]::new));
    results.add(calls.in(setting));
    if (kernel > 0) {
      results.add(Loads.busy(Names.BESIDE, kernel, measured.subList(1, 2)).in(setting));
    }
  }

  private void oneAgainstMany() throws IOException, InterruptedException {
    Map<String, Optional<Share>> guests = new LinkedHashMap<>();
    guests.put("one", share(Share.Type.GUARANTEED, 50));
    guests.put("many", share(Share.Type.GUARANTEED, 50));
    guests(guests);
    List<Load> together = new ArrayList<>(List.of(Load.busy("one", Scope.USUAL)));
    IntStream.range(0, Scope.MANY).forEach(i -> together.add(Load.busy("many", Scope.USUAL)));
    String what = "one session beside " + Scope.MANY;
    results.add(
        Loads.busy(Names.ONE_AND_MANY, Scope.MANY, run(channel, what, together)).in(channel));
  }

  private void classes() throws IOException, InterruptedException {
    Map<String, Optional<Share>> guests = new LinkedHashMap<>();
    guests.put("guaranteed", share(Share.Type.GUARANTEED, 40));
    guests.put("burstable", share(Share.Type.BURSTABLE, 10));
    guests.put("best-effort", share(Share.Type.BEST_EFFORT, 0));
    busy(channel, Names.CLASSES, 0, Scope.USUAL, guests);
  }

  private static Optional<Share> share(Share.Type type, int percent) {
    return Optional.of(new Share(type, percent, Share.Priority.NORMAL));
  }

  private void busyNatively(String name, long size, long kernel, int count)
      throws IOException, InterruptedException {
    if (local.isPresent()) {
      List<Load> together = Collections.nCopies(count, Load.busy(NATIVE, kernel));
      String what = what(count, kernel);
      results.add(Loads.busy(name, size, run(NATIVE, what, together)).in(NATIVE));
    }
  }

  /** Each of the guests has a busy program. */
  private void busy(
      String setting, String name, long size, long kernel, Map<String, Optional<Share>> guests)
      throws IOException, InterruptedException {
    guests(guests);
    List<Load> together = guests.keySet().stream().map(g -> Load.busy(g, kernel)).toList();
    String what = what(guests.size(), kernel) + " (" + name + ")";
    results.add(Loads.busy(name, size, run(setting, what, together)).in(setting));
  }

  private static String what(int count, long kernel) {
    return count + " busy with kernels of " + kernel + " us";
  }

  private List<Optional<Measurement>> run(String setting, String what, List<Load> together)
      throws IOException, InterruptedException {
    progress.accept("measures " + setting + ": " + what);
    boolean natively = setting.equals(NATIVE);
    return loads.together(together, rounds, g -> natively ? local.get() : environment(g));
  }

  private void guests(Map<String, Optional<Share>> shares) throws IOException {
    Map<String, String> settings = new LinkedHashMap<>();
    shares.forEach(
        (guest, share) ->
            settings.put(guest, String.join(" ", share.map(Share::settings).orElse(List.of()))));
    server.guests(settings);
  }

  private ProgramEnvironment environment(String guest) {
    return server.environment(guest, channel, client);
  }
}
