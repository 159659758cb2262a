package graft.comparison.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import graft.comparison.Suites;
import graft.comparison.suite.OtherGuests;
import graft.comparison.suite.Suite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunnerTest {
  private static final Suite SUITE =
      Suites.of(List.of("shm", "tcp"), List.of("kernels", "synthetic", "multiplex"), 3);
  private static final int RUNS = 2 * 4 * 3; // settings, cases, blocks
  private static final Progress QUIET =
      new Progress() {
        @Override
        public void visit(int number, int of, Visit visit) {}

        @Override
        public void ran(Entry.Run run) {}

        @Override
        public void note(String text) {}
      };

  /** The suite without other guests. */
  private static final Suite ALONE =
      new Suite(
          SUITE.compare(),
          SUITE.name(),
          SUITE.title(),
          SUITE.device(),
          SUITE.seed(),
          SUITE.repetitions(),
          SUITE.warmUps(),
          SUITE.emptyCaches(),
          SUITE.baseline(),
          SUITE.scenarios(),
          SUITE.hypervisors(),
          SUITE.middleware(),
          SUITE.workloads(),
          Optional.of(OtherGuests.SHUT_OFF),
          SUITE.published());

  @TempDir Path folder;

  private static FakeSite site() {
    return new FakeSite(Map.of("shm", 1.0, "tcp", 1.5));
  }

  private List<Entry.Run> run(Suite suite, FakeSite site) throws Exception {
    return run(suite, site, new Stop());
  }

  private List<Entry.Run> run(Suite suite, FakeSite site, Stop stop) throws Exception {
    Path file = folder.resolve("results.jsonl");
    try (ResultsLog log = ResultsLog.open(file)) {
      if (log.entries().isEmpty()) {
        log.add(new Entry.Begin("digest", "test", 7, "now", site.describe()));
      }
      new Runner(suite, site, log, QUIET, stop).run(7);
    }
    return ResultsLog.read(file).stream()
        .filter(Entry.Run.class::isInstance)
        .map(Entry.Run.class::cast)
        .toList();
  }

  @Test
  void runsEveryCaseInEverySettingOnceABlock() throws Exception {
    List<Entry.Run> runs = run(SUITE, site());
    assertThat(runs).hasSize(RUNS).allMatch(run -> run.result() == Result.OK);
    assertThat(runs.stream().map(run -> run.block() + run.setting() + run.key()))
        .doesNotHaveDuplicates();
  }

  /** A setting that turns out impossible is counted no more, and no number is left out. */
  @Test
  void theNumbersOfVisitsDoNotJump() throws Exception {
    List<String> numbers = new ArrayList<>();
    Progress progress =
        new Progress() {
          @Override
          public void visit(int number, int of, Visit visit) {
            if (visit.setting().name().equals("tcp")) {
              numbers.add(number + "/" + of);
            }
          }

          @Override
          public void ran(Entry.Run run) {}

          @Override
          public void note(String text) {}
        };
    Path file = folder.resolve("results.jsonl");
    FakeSite site = site().withImpossible("shm");
    try (ResultsLog log = ResultsLog.open(file)) {
      log.add(new Entry.Begin("digest", "test", 7, "now", site.describe()));
      new Runner(
              Suites.of(List.of("tcp", "shm"), List.of("kernels"), 3),
              site,
              log,
              progress,
              new Stop())
          .run(7);
    }
    assertThat(numbers.get(1)).isEqualTo("2/3");
    assertThat(numbers.get(2)).isEqualTo("3/3");
  }

  @Test
  void aProfileIsMadeInEachBlock() throws Exception {
    Suite suite = Suites.withProfiles(Suites.of(List.of("shm"), List.of("kernels"), 3));
    FakeSite site = site();
    site.withPrograms(
        (setting, program) -> {
          Ended ended = site.works(setting, program);
          String profile = program.profile() ? "{\"compute_ms\": 1, \"transfer_ms\": 2}" : "";
          return new Ended(0, false, 1, ended.output(), "", profile);
        });
    run(suite, site);
    run(suite, site);
    assertThat(ResultsLog.read(folder.resolve("results.jsonl")))
        .filteredOn(Entry.Profile.class::isInstance)
        .extracting(entry -> ((Entry.Profile) entry).block())
        .as("once a block, and not again")
        .containsExactly(1, 2, 3);
  }

  @Test
  void eachCaseRunsWithEmptyCachesFirst() throws Exception {
    Suite suite = Suites.withEmptyCaches(Suites.of(List.of("shm"), List.of("kernels"), 1));
    FakeSite site = site();
    List<String> times = new ArrayList<>(List.of("900", "100"));
    site.withPrograms(
        (setting, program) -> {
          assertThat(program.environment()).containsEntry("CUDA_CACHE_PATH", "/caches/cuda");
          String line =
              "{\"name\":\"total\",\"unit\":\"ms\",\"state\":\"filled\",\"samples\":[%s]}\n"
                  + "{\"name\":\"wait\",\"unit\":\"us\",\"samples\":[1]}\n";
          return new Ended(0, false, 1, line.formatted(times.remove(0)), "", "");
        });
    List<Entry.Run> runs = run(suite, site);
    assertThat(site.done)
        .containsExactly("up shm", "empty caches", "run kernels", "run kernels", "down shm");
    assertThat(runs.get(0).figures().stream().map(f -> f.state() + " " + f.name() + f.samples()))
        .containsExactlyInAnyOrder("empty total[900.0]", "filled total[100.0]", "warm wait[1.0]");
  }

  @Test
  void aRunThatFailsWithEmptyCachesIsTheResult() throws Exception {
    FakeSite site = site();
    site.withPrograms(
        (setting, program) ->
            new Ended(1, false, 1, "result=failed: nothing compiles here\n", "", ""));
    Suite suite = Suites.withEmptyCaches(Suites.of(List.of("shm"), List.of("kernels"), 1));
    assertThat(run(suite, site))
        .extracting(Entry.Run::result, Entry.Run::why)
        .containsExactly(tuple(Result.FAILED, "nothing compiles here"));
  }

  @Test
  void ordersByChanceThatASeedRepeats() {
    List<Setting> settings = Setting.of(SUITE);
    List<Case> cases = Case.of(SUITE);
    assertThat(Visit.plan(settings, cases, 20, 1)).isEqualTo(Visit.plan(settings, cases, 20, 1));
    assertThat(
            Visit.plan(settings, cases, 20, 1).stream()
                .filter(visit -> visit.setting().name().equals("shm"))
                .map(Visit::cases)
                .collect(Collectors.toSet()))
        .hasSizeGreaterThan(5);
  }

  @Test
  void keepsTheAmountThatTheBaselineCalibrated() throws Exception {
    FakeSite site = site();
    site.withPrograms(
        (setting, program) -> {
          boolean given = program.words().contains("amount=1000,2,3");
          assertThat(given || !program.words().contains("share=35") || setting.equals("shm"))
              .isTrue();
          return site.works(setting, program);
        });
    assertThat(run(SUITE, site)).allMatch(run -> run.result() == Result.OK);
    assertThat(site.done.subList(0, 3)).containsExactly("up shm", "run synthetic", "down shm");
  }

  @Test
  void goesOnWhereItStopped() throws Exception {
    Stop stop = new Stop();
    FakeSite stopped = site();
    int[] runs = {0};
    stopped.withPrograms(
        (setting, program) -> {
          if (++runs[0] == 8) {
            stop.ask();
          }
          return stopped.works(setting, program);
        });
    int before = run(SUITE, stopped, stop).size();
    assertThat(before).as("the one that was interrupted does not count").isLessThan(8);
    assertThat(stopped.done).last().asString().startsWith("down");
    FakeSite second = site();
    assertThat(run(SUITE, second)).hasSize(RUNS);
    assertThat(second.done.stream().filter(line -> line.startsWith("run")).count())
        .as("multiplex counts once, calibration is not repeated")
        .isEqualTo(RUNS - before);
  }

  @Test
  void takesDownFirstWhatACrashLeft() throws Exception {
    try (ResultsLog log = ResultsLog.open(folder.resolve("results.jsonl"))) {
      log.add(new Entry.Begin("digest", "test", 7, "now", Map.of()));
      log.add(new Entry.Preparing(1, "tcp"));
    }
    FakeSite site = site();
    run(SUITE, site);
    assertThat(site.done).first().isEqualTo("clear tcp");
  }

  @Test
  void leavesOtherGuestsAloneUnlessAsked() throws Exception {
    FakeSite site = site();
    site.others.add("web");
    run(SUITE, site);
    assertThat(site.done).noneMatch(line -> line.endsWith("web"));
  }

  @Test
  void shutsOtherGuestsOffAndStartsThemAgain() throws Exception {
    FakeSite site = site();
    site.others.addAll(Set.of("db", "web"));
    run(ALONE, site);
    assertThat(site.done)
        .startsWith("shut off db", "shut off web")
        .endsWith("start db", "start web");
  }

  @Test
  void startsThemAgainIfOneDoesNotShutDown() {
    FakeSite site = site();
    site.others.addAll(Set.of("db", "deaf", "web"));
    assertThatThrownBy(() -> run(ALONE, site)).hasMessage("guest deaf does not shut down");
    assertThat(site.done).containsExactly("shut off db", "shut off deaf", "start db", "start deaf");
  }

  @Test
  void startsThemAgainAfterACrash() throws Exception {
    try (ResultsLog log = ResultsLog.open(folder.resolve("results.jsonl"))) {
      log.add(new Entry.Begin("digest", "test", 7, "now", Map.of()));
      log.add(new Entry.ShutOff("web"));
    }
    FakeSite site = site();
    run(SUITE, site);
    assertThat(site.done).endsWith("start web");
  }

  @Test
  void aFailingProgramIsAResult() throws Exception {
    FakeSite site = site();
    site.withPrograms(
        (setting, program) ->
            program.words().contains("kernels") && setting.equals("tcp")
                ? new Ended(1, false, 0.1, "result=failed: a wrong price\n", "", "")
                : site.works(setting, program));
    List<Entry.Run> runs = run(SUITE, site);
    assertThat(runs).hasSize(RUNS);
    assertThat(runs.stream().filter(run -> run.result() == Result.FAILED))
        .isNotEmpty()
        .allMatch(run -> run.setting().equals("tcp") && run.why().equals("a wrong price"));
  }

  @Test
  void aProgramThatNeverEndsIsKilledAndSaid() throws Exception {
    FakeSite site = site();
    site.withPrograms((setting, program) -> new Ended(137, true, 5, "", "", ""));
    assertThat(run(Suites.of(List.of("shm"), List.of("kernels"), 1), site))
        .singleElement()
        .satisfies(run -> assertThat(run.result()).isEqualTo(Result.TIMEOUT))
        .satisfies(run -> assertThat(run.why()).isEqualTo("not over after 5 s"));
  }

  @Test
  void aGuestThatDiesOnceCostsOneRun() throws Exception {
    Suite suite = Suites.of(List.of("shm", "tcp"), List.of("kernels", "memory"), 1);
    List<Entry.Run> runs = run(suite, site().withLosses("tcp", 1));
    assertThat(runs).hasSize(4);
    assertThat(runs.stream().filter(run -> run.result() == Result.LOST))
        .singleElement()
        .satisfies(run -> assertThat(run.why()).isEqualTo("the guest is gone"));
  }

  @Test
  void aGuestThatAlwaysDiesIsGivenUpAndTheOthersGoOn() throws Exception {
    Suite suite = Suites.of(List.of("shm", "tcp"), List.of("kernels", "memory", "launch"), 1);
    List<Entry.Run> runs = run(suite, site().withLosses("tcp", 100));
    assertThat(runs).hasSize(6);
    assertThat(runs.stream().filter(run -> run.setting().equals("tcp")))
        .allMatch(run -> run.result() == Result.LOST);
    assertThat(runs.stream().filter(run -> run.setting().equals("shm")))
        .allMatch(run -> run.result() == Result.OK);
  }

  @Test
  void whatASiteCannotDoIsNotedOnceWithTheReason() throws Exception {
    run(SUITE, site().withImpossible("tcp"));
    assertThat(ResultsLog.read(folder.resolve("results.jsonl")))
        .filteredOn(Entry.Impossible.class::isInstance)
        .containsExactly(new Entry.Impossible("tcp", "there is no such hypervisor here"));
  }

  @Test
  void aLineThatACrashCutOffIsAsIfItHadNotBeen() throws Exception {
    run(SUITE, site());
    Path file = folder.resolve("results.jsonl");
    String text = Files.readString(file);
    Files.writeString(file, text.substring(0, text.length() - 30));
    List<Entry> whole = ResultsLog.read(file);
    try (ResultsLog log = ResultsLog.open(file)) {
      assertThat(log.entries()).isEqualTo(whole);
      log.add(new Entry.Stopped("again"));
    }
    assertThat(ResultsLog.read(file)).last().isEqualTo(new Entry.Stopped("again"));
  }

  @Test
  void aLineThatIsNoEntryIsSaidWithItsPlace() throws Exception {
    Path file = folder.resolve("results.jsonl");
    Files.writeString(file, "{\"entry\":\"stopped\",\"why\":\"\"}\nnonsense\n");
    assertThatThrownBy(() -> ResultsLog.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("results.jsonl:2");
  }
}
