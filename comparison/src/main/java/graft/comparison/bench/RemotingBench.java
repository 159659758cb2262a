package graft.comparison.bench;

import graft.common.GraftException;
import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the measuring program ({@code remoting-bridge/client/bench/remoting.c}) in several ways.
 *
 * @param program the program
 * @param quick whether to leave out large copies and take fewer samples
 * @param limit how long one run may take
 * @param progress is told what runs
 */
public record RemotingBench(
    Path program, boolean quick, Duration limit, Consumer<String> progress) {
  private static final Pattern ROUND_TRIPS = Pattern.compile("round-trips=(\\d+)");

  /** All figures of a way; remote ones have the start-up's round trips as well. */
  public Map<Figure, Measured> measure(ProgramEnvironment way)
      throws IOException, InterruptedException {
    progress.accept("measures " + way.name());
    Map<Figure, Measured> figures = new LinkedHashMap<>();
    if (!way.isNative()) {
      String said = run(way.with("GRAFT_STATS", "1"), "--start").errors();
      Matcher trips = ROUND_TRIPS.matcher(said);
      if (trips.find()) {
        figures.put(
            new Figure("start-up-round-trips", 0),
            new Measured(Integer.parseInt(trips.group(1)), ""));
      }
    }
    figures.putAll(Measured.parse(run(way).output()));
    return figures;
  }

  /** What plain TCP carries on this machine with as many streams. */
  public Map<Figure, Measured> plain(int streams) throws IOException, InterruptedException {
    progress.accept("measures plain TCP with " + streams + " streams");
    return Measured.parse(
        run(ProgramEnvironment.ofThisMachine(), "--plain", Integer.toString(streams)).output());
  }

  private ProgramRun run(ProgramEnvironment way, String... options)
      throws IOException, InterruptedException {
    if (!Files.isExecutable(program)) {
      throw new GraftException(
          "the measuring program is not at " + program, "run ./graft build, or unpack Graft anew");
    }
    List<String> command = new ArrayList<>(List.of(program.toString()));
    if (quick) {
      command.add("--quick");
    }
    command.addAll(List.of(options));
    ProgramRun run = ProgramRun.of(command, program.getParent(), way, limit);
    if (!run.passed()) {
      throw new GraftException(
          "measuring " + way.name() + " failed (" + run.ending() + "): " + run.lastWords(),
          way.isNative()
              ? "without a driver on this machine leave --native out"
              : "see what the server says");
    }
    return run;
  }
}
