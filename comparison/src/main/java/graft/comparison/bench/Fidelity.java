package graft.comparison.bench;

import graft.common.GraftException;
import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs every program of a folder natively and on a server, and compares the results.
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

  /**
   * The outcome of one program.
   *
   * @param local the native run, null if there was none
   * @param difference the first difference between the outputs that does not also occur between two
   *     native runs; empty if there is none
   */
  public record Outcome(String program, ProgramRun local, ProgramRun remote, String difference) {
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

  /** The executable files of a folder, sorted by name. */
  public static List<Path> programs(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> found =
          files.filter(f -> Files.isRegularFile(f) && Files.isExecutable(f)).sorted().toList();
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
      progress.accept(String.format("%-40s %s", outcome.program(), outcome.verdict()));
      outcomes.add(outcome);
    }
    return outcomes;
  }

  private Outcome run(Path program) throws IOException, InterruptedException {
    ProgramRun first = local == null ? null : run(program, local);
    ProgramRun there = run(program, remote);
    boolean compared = first != null && first.passed() && there.passed();
    String difference =
        compared && !first.output().equals(there.output())
            ? difference(first, run(program, local), there)
            : "";
    return new Outcome(program.getFileName().toString(), first, there, difference);
  }

  private ProgramRun run(Path program, ProgramEnvironment way)
      throws IOException, InterruptedException {
    Path absolute = program.toAbsolutePath();
    return ProgramRun.of(List.of(absolute.toString()), absolute.getParent(), way, limit);
  }

  /**
   * The first line that both native runs share and the remote run lacks. Lines with times and
   * addresses differ between native runs and are ignored.
   */
  private static String difference(ProgramRun first, ProgramRun second, ProgramRun there) {
    List<String> a = first.output().lines().toList();
    List<String> b = second.output().lines().toList();
    List<String> c = there.output().lines().toList();
    if (a.size() != b.size()) {
      Set<String> steady = new LinkedHashSet<>(a);
      steady.retainAll(new HashSet<>(b));
      steady.removeAll(new HashSet<>(c));
      return steady.isEmpty() ? "" : "not there: " + steady.iterator().next();
    }
    for (int i = 0; i < Math.min(a.size(), c.size()); i++) {
      if (a.get(i).equals(b.get(i)) && !a.get(i).equals(c.get(i))) {
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
    return text.toString();
  }

  private static void list(StringBuilder text, String what, Stream<Outcome> outcomes) {
    List<String> names = outcomes.map(Outcome::program).toList();
    text.append(what).append(": ").append(names.size());
    text.append(names.isEmpty() ? "" : " (" + String.join(", ", names) + ")").append('\n');
  }

  /** The outcomes as a tree for JSON. */
  public static Object tree(List<Outcome> outcomes) {
    return Map.of("programs", outcomes.stream().map(Outcome::tree).toList());
  }
}
