package graft.comparison.bench;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the workload {@code remoting} of {@code graft-workload} in several settings.
 *
 * @param program {@code graft-workload}
 * @param quick whether to leave out large copies and take fewer samples
 * @param limit how long one run may take
 * @param progress receives a line for each run
 */
public record RemotingBench(
    Path program, boolean quick, Duration limit, Consumer<String> progress) {
  private static final Pattern ROUND_TRIPS = Pattern.compile("round-trips=(\\d+)");

  /**
   * All figures of a setting: of new processes with an empty and with a filled cache of compiled
   * kernels, then of a warm process. Remote settings also have the round trips of the start-up; the
   * new process with an empty cache comes right behind another one, which took the worker that was
   * ready, and the others when the server is at rest.
   */
  public List<Measurement> measure(ProgramEnvironment setting)
      throws IOException, InterruptedException {
    progress.accept("measures " + setting.name());
    List<Measurement> figures = new ArrayList<>();
    if (!setting.isNative()) {
      String said = run(setting.with("GRAFT_STATS", "1"), "start").errors();
      Matcher trips = ROUND_TRIPS.matcher(said);
      if (trips.find()) {
        figures.add(
            Measurement.of("start-up-round-trips", 0, "", Double.valueOf(trips.group(1)))
                .in(State.FILLED));
      }
    }
    figures.addAll(starts(setting));
    if (!setting.isNative()) {
      Rest.await();
    }
    Results.printed(run(setting, "remoting").output()).stream()
        .filter(figure -> !figure.name().equals("start-up"))
        .forEach(figures::add);
    return figures.stream().map(figure -> figure.in(setting.name())).toList();
  }

  private List<Measurement> starts(ProgramEnvironment setting)
      throws IOException, InterruptedException {
    Path cache = Files.createTempDirectory("graft-bench");
    try {
      List<Measurement> figures = new ArrayList<>();
      for (State state : List.of(State.EMPTY, State.FILLED)) {
        if (state == State.FILLED && !setting.isNative()) {
          Rest.await();
        }
        ProgramRun run = run(setting.withCaches(cache), "load");
        Results.printed(run.output()).forEach(figure -> figures.add(figure.in(state)));
      }
      return figures;
    } finally {
      PrivateFiles.deleteFolder(cache);
    }
  }

  /** The throughput of plain TCP on this machine with this number of streams. */
  public List<Measurement> plain(int streams) throws IOException, InterruptedException {
    progress.accept("measures plain TCP with " + streams + " streams");
    String printed =
        run(ProgramEnvironment.ofThisMachine(), "plain-tcp", "streams=" + streams).output();
    return Results.printed(printed).stream().map(figure -> figure.in("tcp")).toList();
  }

  private ProgramRun run(ProgramEnvironment setting, String workload, String... options)
      throws IOException, InterruptedException {
    if (!Files.isExecutable(program)) {
      throw new GraftException(
          "the measuring program is not at " + program, "run ./graft build, or unpack Graft anew");
    }
    List<String> command = new ArrayList<>(List.of(program.toString(), workload));
    if (quick) {
      command.add("quick=yes");
    }
    command.addAll(List.of(options));
    ProgramRun run = ProgramRun.of(command, program.getParent(), setting, limit);
    if (!run.passed()) {
      throw new GraftException(
          "measuring " + setting.name() + " failed (" + run.ending() + "): " + run.lastWords(),
          setting.isNative()
              ? "without a driver on this machine leave --native out"
              : "see what the server says");
    }
    return run;
  }
}
