package graft.comparison.run;

import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.State;
import graft.comparison.suite.OwnFigure;
import graft.comparison.suite.WorkloadKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The result of a run, read from the output of the case's programs.
 *
 * @param why the cause of a failure; empty if the run was successful
 */
record Reading(Result result, String why, List<Measurement> figures) {
  /** The exit code of a program that lacks a requirement, as in automake's tests. */
  private static final int UNSUPPORTED = 77;

  private static final int MOST_SAID = 400;

  /** Reads the result from all copies of a case. */
  static Reading of(Case run, List<Ended> copies) {
    List<Measurement> figures = new ArrayList<>();
    for (Ended ended : copies) {
      Result result = result(ended);
      if (result != Result.OK) {
        return new Reading(result, why(run, ended), List.of());
      }
      try {
        figures.addAll(run.kind() == WorkloadKind.EXEC ? own(run, ended) : printed(ended.output()));
      } catch (IllegalArgumentException e) {
        return new Reading(Result.FAILED, e.getMessage(), List.of());
      }
    }
    return new Reading(
        Result.OK, "", run.kind() == WorkloadKind.MULTIPLEX ? slowest(figures) : figures);
  }

  /** This reading with the figures that processes have once, from runs with empty caches. */
  Reading with(Reading empty) {
    List<Measurement> all = new ArrayList<>(figures);
    empty.figures.stream()
        .filter(figure -> figure.state() == State.FILLED)
        .forEach(figure -> all.add(figure.in(State.EMPTY)));
    return new Reading(result, why, List.copyOf(all));
  }

  private static Result result(Ended ended) {
    if (ended.timedOut()) {
      return Result.TIMEOUT;
    }
    return switch (ended.exitCode()) {
      case 0 -> Result.OK;
      case UNSUPPORTED -> Result.UNSUPPORTED;
      default -> Result.FAILED;
    };
  }

  private static String why(Case run, Ended ended) {
    if (ended.timedOut()) {
      return "not over after " + run.program("").limit().toSeconds() + " s";
    }
    Optional<String> own =
        ended.output().lines().filter(line -> line.startsWith("result=")).reduce((a, b) -> b);
    String said = own.orElse(ended.error().isBlank() ? ended.output() : ended.error()).strip();
    String end = said.length() <= MOST_SAID ? said : said.substring(said.length() - MOST_SAID);
    String text = end.replaceFirst("^result=(failed|unsupported): ", "");
    return own.isPresent() ? text : "exit code " + ended.exitCode() + ": " + text;
  }

  static List<Measurement> printed(String output) {
    List<Measurement> figures = Results.printed(output);
    if (figures.isEmpty()) {
      throw new IllegalArgumentException("it printed no figure");
    }
    return figures;
  }

  /** The word after {@code amount}; empty if there is none. */
  static String amount(String output) {
    return output
        .lines()
        .filter(line -> line.startsWith("amount\t"))
        .map(line -> line.substring("amount\t".length()))
        .findFirst()
        .orElse("");
  }

  private static List<Measurement> own(Case run, Ended ended) {
    List<Measurement> figures = new ArrayList<>(printed(ended.output())); // includes the run time
    run.workload()
        .check()
        .filter(check -> !Pattern.compile(check).matcher(ended.output()).find())
        .ifPresent(
            check -> {
              throw new IllegalArgumentException(
                  "its result is not right: its output has nothing that matches check, " + check);
            });
    for (OwnFigure figure : run.workload().figures()) {
      Matcher matcher = Pattern.compile(figure.pattern()).matcher(ended.output());
      String last = null;
      while (matcher.find()) {
        last = matcher.group(1);
      }
      if (last == null) {
        throw new IllegalArgumentException(
            "its output has nothing that matches " + figure.pattern());
      }
      String unit = figure.unit().orElse("");
      figures.add(Measurement.of(figure.name(), 0, unit, number(last)).in(State.FILLED));
    }
    return figures;
  }

  private static List<Measurement> slowest(List<Measurement> figures) {
    double longest =
        figures.stream()
            .filter(figure -> figure.name().equals("total"))
            .mapToDouble(Measurement::value)
            .max()
            .orElseThrow(() -> new IllegalArgumentException("no copy printed its total"));
    return List.of(Measurement.of("slowest", 0, "ms", longest).in(State.FILLED));
  }

  private static double number(String text) {
    double value = Double.parseDouble(text);
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("'" + text + "' is no figure");
    }
    return value;
  }
}
