package graft.comparison;

import graft.comparison.suite.Scenario;
import graft.comparison.suite.Suite;
import graft.comparison.suite.Workload;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Suites for tests. */
public final class Suites {
  private Suites() {}

  /**
   * A suite of scenarios and workloads that are named after their kinds; the first scenario is the
   * baseline.
   */
  public static Suite of(List<String> scenarios, List<String> workloads, int repetitions) {
    return new Suite(
        1,
        "test",
        Optional.empty(),
        Optional.of("software"),
        Optional.of(7),
        Optional.of(repetitions),
        Optional.of(0),
        Optional.empty(),
        scenarios.get(0),
        scenarios.stream().map(Suites::scenario).toList(),
        List.of(),
        List.of(),
        workloads.stream().map(Suites::workload).toList(),
        Optional.empty(),
        List.of());
  }

  /** The suite with runs that find the caches of compiled kernels empty. */
  public static Suite withEmptyCaches(Suite suite) {
    return with(suite, Optional.of(true), suite.hypervisors());
  }

  /** The suite with hypervisors for its guests. */
  public static Suite under(Suite suite, String... hypervisors) {
    return with(suite, suite.emptyCaches(), List.of(hypervisors));
  }

  /** The suite with profiles of all workloads. */
  public static Suite withProfiles(Suite suite) {
    List<Workload> profiled =
        suite.workloads().stream().map(w -> workload(w.name(), true)).toList();
    return with(suite, suite.emptyCaches(), suite.hypervisors(), profiled);
  }

  private static Suite with(Suite suite, Optional<Boolean> empty, List<String> hypervisors) {
    return with(suite, empty, hypervisors, suite.workloads());
  }

  private static Suite with(
      Suite suite, Optional<Boolean> empty, List<String> hypervisors, List<Workload> workloads) {
    return new Suite(
        suite.compare(),
        suite.name(),
        suite.title(),
        suite.device(),
        suite.seed(),
        suite.repetitions(),
        suite.warmUps(),
        empty,
        suite.baseline(),
        suite.scenarios(),
        hypervisors,
        suite.middleware(),
        workloads,
        suite.otherGuests(),
        suite.published());
  }

  private static Scenario scenario(String name) {
    Optional<String> descriptor =
        Stream.of("guests.yaml").filter(file -> name.matches("(vm|lxc)-.*")).findFirst();
    return new Scenario(
        name,
        Optional.empty(),
        descriptor,
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of());
  }

  private static Workload workload(String name) {
    return workload(name, false);
  }

  private static Workload workload(String name, boolean profile) {
    return new Workload(
        name,
        Optional.empty(),
        List.of(),
        List.of(35),
        List.of(),
        List.of(),
        List.of(1, 2),
        List.of(),
        Optional.empty(),
        List.of(),
        Optional.empty(),
        Optional.of(5),
        Optional.of(profile));
  }
}
