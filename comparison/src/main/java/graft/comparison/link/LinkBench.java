package graft.comparison.link;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.comparison.bench.ProgramRun;
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
 * Measures what a round trip costs: how often programs wait for the server, and how long they take.
 *
 * @param program {@code graft-workload}
 * @param own the user's own program with its arguments; empty to measure {@code graft-workload}'s
 *     start and steps
 * @param samples how often a start is measured
 * @param limit how long one run may take
 * @param progress receives a line for each setting
 */
public record LinkBench(
    Path program, List<String> own, int samples, Duration limit, Consumer<String> progress) {
  /** The setting without delay, with which the others are compared. */
  public static final String NEAR = "rtt 0";

  private static final Pattern WAITS =
      Pattern.compile("(?m)^graft: calls=.* round-trips=([0-9]+) ");

  /** With shorter round trips, what the link adds is less than what two runs differ by. */
  private static final double LEAST_SECONDS = 0.01;

  /** How many steps the workload {@code step} takes after its first one. */
  private static final int STEPS = 10;

  /** The server over a link, and the link's round trip. */
  public record Link(RoundTrip roundTrip, ProgramEnvironment environment) {}

  /** Measures over each link. The first one is to be without delay. */
  public Results measure(List<Link> links) throws IOException, InterruptedException {
    Path caches = Files.createTempDirectory("graft-bench");
    try {
      // The kernels are compiled before anything is measured.
      run(links.get(0).environment().withCaches(caches), own.isEmpty() ? workload("load") : own);
      Results results = new Results();
      for (Link link : links) {
        ProgramEnvironment setting = link.environment().withCaches(caches);
        progress.accept("measures " + setting.name());
        List<Measurement> figures = own.isEmpty() ? figures(setting) : program(setting);
        figures.forEach(figure -> results.add(figure.in(setting.name())));
        Measurement process = figures.get(0);
        results
            .at(NEAR, process)
            .filter(near -> link.roundTrip().seconds() >= LEAST_SECONDS)
            .map(near -> (process.value() - near.value()) / link.roundTrip().seconds())
            .map(trips -> Measurement.of(process.name() + "-link-round-trips", 0, "", trips))
            .ifPresent(trips -> results.add(trips.in(State.FILLED).in(setting.name())));
      }
      return results;
    } finally {
      PrivateFiles.deleteFolder(caches);
    }
  }

  private List<Measurement> figures(ProgramEnvironment setting)
      throws IOException, InterruptedException {
    List<Double> seconds = new ArrayList<>();
    List<Double> waits = new ArrayList<>();
    for (int i = 0; i < samples; i++) {
      ProgramRun run = run(setting, workload("load"));
      seconds.add(run.seconds());
      waits.add(waits(run));
    }
    ProgramRun once = run(setting, workload("step", "scale=" + 1.0 / STEPS));
    ProgramRun often = run(setting, workload("step"));
    List<Measurement> figures = new ArrayList<>();
    figures.add(new Measurement("", "start", 0, "s", State.FILLED, seconds));
    figures.add(new Measurement("", "start-waits", 0, "", State.FILLED, waits));
    Results.printed(often.output()).stream()
        .filter(figure -> figure.name().equals("step"))
        .forEach(figures::add);
    double each = (waits(often) - waits(once)) / (STEPS - 1);
    figures.add(Measurement.of("step-waits", 0, "", each));
    return figures;
  }

  private List<Measurement> program(ProgramEnvironment setting)
      throws IOException, InterruptedException {
    ProgramRun run = run(setting, own);
    return List.of(
        Measurement.of("program", 0, "s", run.seconds()).in(State.FILLED),
        Measurement.of("program-waits", 0, "", waits(run)).in(State.FILLED));
  }

  private List<String> workload(String... words) {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(words));
    return command;
  }

  /**
   * How often a program and its children waited for the server, by what the client says at their
   * ends; null if no process used the GPU.
   */
  static Double waits(ProgramRun run) {
    Matcher said = WAITS.matcher(run.errors());
    return said.results().map(m -> Double.valueOf(m.group(1))).reduce(Double::sum).orElse(null);
  }

  private ProgramRun run(ProgramEnvironment setting, List<String> command)
      throws IOException, InterruptedException {
    ProgramRun run =
        ProgramRun.of(
            command, Path.of("").toAbsolutePath(), setting.with("GRAFT_STATS", "1"), limit);
    if (!run.passed()) {
      throw new GraftException(
          command.get(0)
              + " over "
              + setting.name()
              + " failed ("
              + run.ending()
              + "): "
              + run.lastWords(),
          "run it without the link: graft run --device software -- " + String.join(" ", command));
    }
    return run;
  }
}
