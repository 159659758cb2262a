package graft.comparison.bench;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.comparison.local.OwnProgram;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.ResultsTable;
import graft.comparison.results.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs every program of a folder natively and on a server, and compares the results. Each program
 * runs twice in each setting, in a new process each time: with the caches of compiled kernels
 * empty, and with the caches that this run has filled. One that prints something else on the server
 * runs natively once more.
 *
 * @param local the machine's own driver; null to run on the server alone
 * @param remote the server
 * @param limit how long a program may run
 * @param progress receives each outcome
 */
public record Fidelity(
    ProgramEnvironment local,
    ProgramEnvironment remote,
    Duration limit,
    Consumer<String> progress) {

  private static final List<State> STATES = List.of(State.EMPTY, State.FILLED);

  /**
   * The outcome of one program.
   *
   * @param local the native run, null if there was none; the first that failed, or else the last
   * @param remote the same of the server
   * @param difference the first difference between the outputs that does not also occur between
   *     native runs; empty if there is none
   * @param times how long each run took
   */
  public record Outcome(
      String program,
      ProgramRun local,
      ProgramRun remote,
      String difference,
      List<Measurement> times) {
    /** Whether both runs passed but printed different output. */
    boolean differs() {
      return !difference.isEmpty();
    }

    /** The outcome in a word or two. */
    public String verdict() {
      if (local != null && !local.passed()) {
        return "fails natively";
      }
      if (!remote.passed()) {
        return "fails remotely";
      }
      return differs() ? "differs" : "passes";
    }

    /** A line for a person: the program, its verdict, and why it is not "passes". */
    private String line() {
      String why = remote.passed() ? difference : remote.ending() + ": " + remote.lastWords();
      return String.format("%-40s %s%s", program, verdict(), why.isEmpty() ? "" : ": " + why);
    }

    Map<String, Object> tree() {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("program", program);
      tree.put("native", local == null ? null : local.ending());
      tree.put("remote", remote.ending());
      tree.put("verdict", verdict());
      tree.put("reason", remote.passed() ? difference : remote.lastWords());
      return tree;
    }
  }

  /**
   * The executable files of a folder, sorted by name, without {@code graft-workload}, which
   * measures and does nothing without arguments.
   */
  public static List<Path> programs(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> found =
          files
              .filter(f -> Files.isRegularFile(f) && Files.isExecutable(f))
              .filter(f -> !f.getFileName().toString().equals(OwnProgram.NAME))
              .sorted()
              .toList();
      if (found.isEmpty()) {
        throw new GraftException("there is no executable file in " + folder, "");
      }
      return found;
    } catch (IOException e) {
      throw new GraftException("cannot list " + folder + ": " + e, "", e);
    }
  }

  /** Runs all programs. */
  public List<Outcome> run(List<Path> programs) throws IOException, InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    for (Path program : programs) {
      Outcome outcome = run(program);
      progress.accept(outcome.line());
      outcomes.add(outcome);
    }
    return outcomes;
  }

  private Outcome run(Path program) throws IOException, InterruptedException {
    String name = program.getFileName().toString();
    List<Measurement> times = new ArrayList<>();
    List<ProgramRun> here = local == null ? List.of() : run(program, local, STATES, times);
    List<ProgramRun> there = run(program, remote, STATES, times);
    ProgramRun first = local == null ? null : outcome(here);
    String difference = "";
    if (first != null && first.passed() && outcome(there).passed()) {
      difference = difference(here, there);
      if (!difference.isEmpty()) {
        // Two runs within a second print the same numbers if the time is their seed.
        here.addAll(run(program, local, List.of(State.EMPTY), new ArrayList<>()));
        difference = difference(here, there);
      }
    }
    return new Outcome(name, first, outcome(there), difference, List.copyOf(times));
  }

  /** The run that decides: the first that failed, or else the last. */
  private static ProgramRun outcome(List<ProgramRun> runs) {
    return runs.stream().filter(r -> !r.passed()).findFirst().orElse(runs.get(runs.size() - 1));
  }

  private List<ProgramRun> run(
      Path program, ProgramEnvironment setting, List<State> states, List<Measurement> times)
      throws IOException, InterruptedException {
    Path absolute = program.toAbsolutePath();
    String name = program.getFileName().toString();
    String place = setting.name();
    Path caches = Files.createTempDirectory("graft-caches");
    try {
      List<ProgramRun> runs = new ArrayList<>();
      for (State state : states) {
        ProgramRun run =
            ProgramRun.of(
                List.of(absolute.toString()),
                absolute.getParent(),
                setting.withCaches(caches),
                limit);
        runs.add(run);
        List<Double> samples = Collections.singletonList(run.passed() ? run.seconds() : null);
        times.add(new Measurement(place, name, 0, "s", state, samples));
      }
      return runs;
    } finally {
      PrivateFiles.deleteFolder(caches);
    }
  }

  private static String difference(List<ProgramRun> here, List<ProgramRun> there) {
    return there.stream()
        .map(one -> difference(here, one))
        .filter(text -> !text.isEmpty())
        .findFirst()
        .orElse("");
  }

  /**
   * The first line that all native runs share and the remote run lacks. Lines with times and
   * addresses differ between native runs and are ignored.
   */
  private static String difference(List<ProgramRun> here, ProgramRun there) {
    List<List<String>> runs = here.stream().map(run -> run.output().lines().toList()).toList();
    List<String> a = runs.get(0);
    List<String> c = there.output().lines().toList();
    if (runs.stream().anyMatch(b -> b.size() != a.size())) {
      Set<String> steady = new LinkedHashSet<>(a);
      runs.forEach(b -> steady.retainAll(new HashSet<>(b)));
      steady.removeAll(new HashSet<>(c));
      return steady.isEmpty() ? "" : "not there: " + steady.iterator().next();
    }
    for (int i = 0; i < Math.min(a.size(), c.size()); i++) {
      int line = i;
      if (runs.stream().allMatch(b -> b.get(line).equals(a.get(line)))
          && !a.get(i).equals(c.get(i))) {
        return "line " + (i + 1) + ": " + a.get(i) + "; there: " + c.get(i);
      }
    }
    return a.size() == c.size() ? "" : a.size() + " lines; there: " + c.size();
  }

  /** The outcomes and the differences as text. */
  public static String table(List<Outcome> outcomes) {
    StringBuilder text =
        new StringBuilder("| program | native | remote | verdict |\n|---|---|---|---|\n");
    for (Outcome o : outcomes) {
      text.append("| ")
          .append(o.program())
          .append(" | ")
          .append(o.local() == null ? "" : o.local().ending())
          .append(" | ")
          .append(o.remote().ending())
          .append(o.remote().passed() ? "" : ": " + o.remote().lastWords().replace("|", "/"))
          .append(" | ")
          .append(o.verdict())
          .append(o.differs() ? ": " + o.difference().replace("|", "/") : "")
          .append(" |\n");
    }
    text.append('\n');
    list(
        text,
        "passes natively",
        outcomes.stream().filter(o -> o.local() != null && o.local().passed()));
    list(text, "passes remotely", outcomes.stream().filter(o -> o.remote().passed()));
    list(text, "differs in output", outcomes.stream().filter(Outcome::differs));
    return text.append('\n').append(times(results(outcomes))).toString();
  }

  /** Times, and ratios to native where the programs ran natively. */
  private static ResultsTable times(Results results) {
    ResultsTable table = new ResultsTable(results);
    List<String> settings = results.settings();
    settings.forEach(table::median);
    if (settings.size() > 1) {
      table.ratio("ratio", settings.get(1), settings.get(0));
    }
    return table;
  }

  private static Results results(List<Outcome> outcomes) {
    Results results = new Results();
    outcomes.forEach(outcome -> results.addAll(outcome.times()));
    return results;
  }

  private static void list(StringBuilder text, String what, Stream<Outcome> outcomes) {
    List<String> names = outcomes.map(Outcome::program).toList();
    text.append(what).append(": ").append(names.size());
    text.append(names.isEmpty() ? "" : " (" + String.join(", ", names) + ")").append('\n');
  }

  /** The outcomes as a tree for JSON, which is also a results file. */
  public static Map<String, Object> tree(List<Outcome> outcomes) {
    return Map.of(
        "programs",
        outcomes.stream().map(Outcome::tree).toList(),
        "measurements",
        results(outcomes).trees());
  }
}
