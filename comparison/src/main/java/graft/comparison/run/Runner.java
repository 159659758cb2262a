package graft.comparison.run;

import graft.common.json.Json;
import graft.comparison.suite.OtherGuests;
import graft.comparison.suite.Suite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Carries out the parts of a plan that are not yet in the log.
 *
 * <p>A failed run is a result, and so is a setting that the site does not support or that does not
 * start; the comparison continues with the other settings. Only a log that cannot be written, or a
 * setting that cannot be taken down, ends the comparison.
 */
public final class Runner {
  /** After this number of losses in one visit, the setting is skipped until the next block. */
  private static final int MOST_LOSSES = 2;

  private final Suite suite;
  private final Site site;
  private final ResultsLog log;
  private final Progress progress;
  private final Stop stop;
  private final Set<String> impossible = new HashSet<>();
  private final Map<String, String> amounts = new HashMap<>();
  private final Set<String> done = new HashSet<>();
  private final Set<String> open = new HashSet<>();
  private final Set<String> off = new LinkedHashSet<>();

  /** A runner that continues where the log ends; the log begins with its {@link Entry.Begin}. */
  public Runner(Suite suite, Site site, ResultsLog log, Progress progress, Stop stop) {
    this.suite = suite;
    this.site = site;
    this.log = log;
    this.progress = progress;
    this.stop = stop;
    log.entries().forEach(this::note);
  }

  /** Updates the remaining work according to an entry. Impossible settings are tried once more. */
  private void note(Entry entry) {
    if (entry instanceof Entry.Amount amount) {
      amounts.put(amount.key(), amount.amount());
    } else if (entry instanceof Entry.Run run) {
      done.add(name(run.block(), run.setting(), run.key()));
    } else if (entry instanceof Entry.Profile profile) {
      done.add(profileName(profile.block(), profile.setting(), profile.key()));
    } else if (entry instanceof Entry.Preparing preparing) {
      open.add(preparing.setting());
    } else if (entry instanceof Entry.Down down) {
      open.remove(down.setting());
    } else if (entry instanceof Entry.ShutOff shutOff) {
      off.add(shutOff.guest());
    } else if (entry instanceof Entry.Started started) {
      off.remove(started.guest());
    }
  }

  private static String name(int block, String setting, String key) {
    return block + " " + setting + " " + key;
  }

  private static String profileName(int block, String setting, String key) {
    return "profile " + name(block, setting, key);
  }

  private void write(Entry entry) throws IOException {
    log.add(entry);
    note(entry);
  }

  /**
   * Runs the plan to its end or until the user asks to stop.
   *
   * @return whether the log contains the whole plan
   * @throws IOException if the log cannot be written
   */
  public boolean run(long seed) throws Exception {
    List<Case> cases = Case.of(suite);
    List<Setting> settings = Setting.of(suite);
    for (Setting setting : settings) {
      if (open.contains(setting.name())) {
        progress.note("takes down what an interrupted run left of " + setting.name());
        site.clear(setting);
        write(new Entry.Down(0, setting.name()));
      }
    }
    try {
      shutOffOthers();
      visit(cases, settings, seed);
    } finally {
      startOthers();
    }
    return !stop.isAsked();
  }

  private void shutOffOthers() throws Exception {
    if (suite.otherGuests().orElse(OtherGuests.NOTE) == OtherGuests.SHUT_OFF) {
      for (String guest : site.guestsRunning()) {
        progress.note("shuts guest " + guest + " off, until the end");
        write(new Entry.ShutOff(guest));
        site.shutOff(guest);
      }
    }
  }

  /** Starts the guests that were shut off, including those that an interrupted run left off. */
  private void startOthers() {
    for (String guest : List.copyOf(off)) {
      try {
        site.start(guest);
        progress.note("guest " + guest + " was started again");
        write(new Entry.Started(guest));
      } catch (Exception e) { // start the others nevertheless
        progress.note("guest " + guest + " was shut off and is not started: " + e.getMessage());
      }
    }
  }

  private void visit(List<Case> cases, List<Setting> settings, long seed) throws Exception {
    calibrate(cases, settings);
    List<Visit> visits = Visit.plan(settings, cases, suite.blocks(), seed);
    for (Visit visit : visits) {
      List<Case> left = left(visit);
      if (!stop.isAsked() && !left.isEmpty() && isPossible(visit)) {
        List<Visit> possible = visits.stream().filter(this::isPossible).toList();
        progress.visit(possible.indexOf(visit) + 1, possible.size(), visit);
        stay(visit, left);
      }
    }
  }

  /**
   * Visits of impossible settings are not counted, so that the numbers that are shown do not jump.
   */
  private boolean isPossible(Visit visit) {
    return !impossible.contains(visit.setting().name());
  }

  private List<Case> left(Visit visit) {
    return visit.cases().stream()
        .filter(c -> !done.contains(name(visit.block(), visit.setting().name(), c.key())))
        .toList();
  }

  /**
   * Calibrates the amounts of work in the baseline, or in the first setting that can be made ready.
   */
  private void calibrate(List<Case> cases, List<Setting> settings) throws Exception {
    List<Case> unknown =
        cases.stream().filter(c -> c.isCalibrated() && !amounts.containsKey(c.key())).toList();
    List<Setting> order = new ArrayList<>(settings);
    Setting baseline = Setting.baseline(suite);
    order.remove(baseline);
    order.add(0, baseline);
    for (Setting setting : order) {
      if (unknown.isEmpty() || stop.isAsked()) {
        return;
      }
      List<Case> wanted = unknown;
      progress.note("calibrates " + wanted.size() + " cases in " + setting.name());
      in(0, setting, place -> calibrate(place, setting, wanted));
      unknown = unknown.stream().filter(c -> !amounts.containsKey(c.key())).toList();
    }
  }

  private void calibrate(Place place, Setting setting, List<Case> cases) throws Exception {
    for (Case run : cases) {
      if (stop.isAsked()) {
        return;
      }
      try {
        List<Ended> ended = place.run(run.program(""), 1);
        Reading reading = Reading.of(run, ended);
        String amount = Reading.amount(ended.get(0).output());
        if (reading.result() == Result.OK && !amount.isEmpty()) {
          write(new Entry.Amount(run.key(), setting.name(), amount));
        } else {
          progress.note(run.key() + " cannot be calibrated: " + reading.why());
        }
      } catch (PlaceLostException e) {
        progress.note(setting.name() + " died while calibrating: " + e.getMessage());
        return;
      }
    }
  }

  /** Work to do in a place. */
  private interface Work {
    void in(Place place) throws Exception;
  }

  /**
   * Makes a setting ready, does the work in it and takes it down. If the place dies, the work ends.
   */
  private void in(int block, Setting setting, Work work) throws Exception {
    long start = System.nanoTime();
    write(new Entry.Preparing(block, setting.name()));
    Place place;
    try {
      place = site.prepare(setting);
    } catch (NotPossibleException e) {
      impossible.add(setting.name());
      progress.note(setting.name() + " is not possible here: " + e.getMessage());
      write(new Entry.Impossible(setting.name(), e.getMessage()));
      write(new Entry.Down(block, setting.name()));
      return;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      if (!stop.isAsked()) { // a requested stop explains the failure
        progress.note(setting.name() + " does not come up: " + e.getMessage());
        write(new Entry.NotReady(block, setting.name(), String.valueOf(e.getMessage())));
      }
      write(new Entry.Down(block, setting.name()));
      return;
    }
    try (place) {
      double seconds = (System.nanoTime() - start) / 1e9;
      write(new Entry.Ready(block, setting.name(), seconds, site.guestsRunning().size()));
      work.in(place);
    }
    write(new Entry.Down(block, setting.name()));
  }

  private void stay(Visit visit, List<Case> cases) throws Exception {
    String setting = visit.setting().name();
    List<Case> left = cases;
    for (int losses = 0; !left.isEmpty() && losses < MOST_LOSSES && !stop.isAsked(); losses++) {
      List<Case> now = left;
      boolean[] lost = {false};
      in(
          visit.block(),
          visit.setting(),
          place -> {
            warmUp(place, now.get(0));
            for (int i = 0; i < now.size() && !stop.isAsked() && !lost[0]; i++) {
              lost[0] = one(place, visit, now.get(i)) == Result.LOST;
            }
          });
      left = left(visit);
      if (!lost[0]) {
        return;
      }
    }
    for (Case run : stop.isAsked() ? List.<Case>of() : left) {
      record(
          visit, run, new Reading(Result.LOST, "given up: " + setting + " died twice", List.of()));
    }
  }

  private void warmUp(Place place, Case first) throws InterruptedException {
    try {
      for (int i = 0; i < suite.warmUps().orElse(1) && !stop.isAsked(); i++) {
        place.run(first.program(amounts.getOrDefault(first.key(), "")), 1);
      }
    } catch (PlaceLostException e) {
      progress.note(
          "lost while warming up: " + e.getMessage()); // the first run reports the loss too
    }
  }

  private Result one(Place place, Visit visit, Case run) throws Exception {
    if (run.isCalibrated() && !amounts.containsKey(run.key())) {
      return record(visit, run, new Reading(Result.FAILED, "it was not calibrated", List.of()));
    }
    if (run.copies() > place.capacity()) {
      String why = "there is room for " + place.capacity() + " here, not for " + run.copies();
      return record(visit, run, new Reading(Result.UNSUPPORTED, why, List.of()));
    }
    Program program = run.program(amounts.getOrDefault(run.key(), ""));
    Noise.Watch watch = Noise.watch();
    Reading reading;
    double seconds = 0;
    try {
      Reading empty = null;
      if (suite.startsEmpty()) {
        program = program.withCaches(place.emptyCaches());
        empty = Reading.of(run, place.run(program, run.copies()));
      }
      if (empty != null && empty.result() != Result.OK) {
        reading = empty;
      } else {
        List<Ended> ended = place.run(program, run.copies());
        seconds = ended.stream().mapToDouble(Ended::seconds).max().orElse(0);
        reading = Reading.of(run, ended);
        reading = empty == null ? reading : reading.with(empty);
      }
    } catch (PlaceLostException e) {
      reading = new Reading(Result.LOST, e.getMessage(), List.of());
    }
    if (stop.isAsked()) {
      return reading.result(); // the stop disturbed this run, which is repeated on resuming
    }
    Result result = record(visit, run, reading, seconds, watch.end());
    if (result == Result.OK && run.workload().profile().orElse(false)) {
      profile(place, visit, run, program);
    }
    return result;
  }

  private Result record(Visit visit, Case run, Reading reading) throws IOException {
    return record(visit, run, reading, 0, Noise.watch().end());
  }

  private Result record(Visit visit, Case run, Reading reading, double seconds, Noise noise)
      throws IOException {
    Entry.Run entry =
        new Entry.Run(
            visit.block(),
            visit.setting().name(),
            run.key(),
            reading.result(),
            reading.why(),
            seconds,
            reading.figures(),
            noise);
    write(entry);
    progress.ran(entry);
    return reading.result();
  }

  /** Profiles a case once in each block, in settings that use Graft's client. */
  private void profile(Place place, Visit visit, Case run, Program program) throws Exception {
    Setting setting = visit.setting();
    boolean client = setting.kind().isRemoted() && setting.middleware().isGraft();
    boolean isNew = done.add(profileName(visit.block(), setting.name(), run.key()));
    if (!client || stop.isAsked() || !isNew) {
      return;
    }
    Map<String, Object> profile;
    try {
      String text = place.run(program.profiled(), 1).get(0).profile();
      if (text.isEmpty()) {
        noProfile(setting, run, "it left none");
        return;
      }
      profile = Json.readObject(text);
    } catch (PlaceLostException | IOException e) {
      noProfile(setting, run, e.getMessage());
      return;
    }
    write(new Entry.Profile(visit.block(), setting.name(), run.key(), profile));
  }

  /** Says once, and not for each block, that a case cannot be profiled in a setting. */
  private void noProfile(Setting setting, Case run, String why) {
    if (done.add(profileName(0, setting.name(), run.key()))) {
      progress.note("no profile of " + run.key() + " in " + setting.name() + ": " + why);
    }
  }
}
