package graft.comparison.site;

import graft.common.GraftException;
import graft.comparison.run.Case;
import graft.comparison.run.Ended;
import graft.comparison.run.NotPossibleException;
import graft.comparison.run.Place;
import graft.comparison.run.PlaceLostException;
import graft.comparison.run.Program;
import graft.comparison.run.Setting;
import graft.deployment.AppliedGuest;
import graft.deployment.Consent;
import graft.deployment.DeploymentProgress;
import graft.deployment.Deployments;
import graft.deployment.UndoRun;
import graft.deployment.Workspace;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.plan.UnfitHostException;
import graft.deployment.state.StateFolder;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.calls.HostUnreachableException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The guests of a descriptor, which the ordinary plan applies. Closing the place destroys them. */
final class GuestPlace implements Place {
  /** The path at which a descriptor for comparisons installs Graft's own program. */
  static final String OWN_PROGRAM = "/usr/local/bin/" + Case.OWN_PROGRAM;

  /**
   * Adds variables to the agent's environment: if the agent is given an environment, the program
   * gets only that one.
   */
  private static final String WITH_SETTINGS =
      "while [ \"$1\" != -- ]; do export \"$1\"; shift; done; shift; exec \"$@\"";

  private static final String CACHES = "/tmp/graft-caches";
  private static final String EMPTY_CACHES = "rm -rf " + CACHES + " && mkdir -m 700 " + CACHES;
  private static final Duration ANSWER = Duration.ofSeconds(20);
  private static final Duration EMPTY_LIMIT = Duration.ofSeconds(60);

  private static final String PROFILE = "/tmp/graft-profile.json";

  private final StateFolder state;
  private final DeploymentProgress progress;
  private final Map<String, String> environment;
  private final Connections connections = new Connections();
  private final JournalState journal;
  private final List<String> guests;

  private GuestPlace(
      StateFolder state,
      DeploymentProgress progress,
      Map<String, String> environment,
      List<String> guests) {
    this.state = state;
    this.progress = progress;
    this.environment = Map.copyOf(environment);
    this.journal = Deployments.journal(state);
    this.guests = List.copyOf(guests);
  }

  /**
   * Applies the descriptor.
   *
   * @throws NotPossibleException if this host does not meet the descriptor's requirements
   */
  static GuestPlace apply(
      DescriptorFile file,
      Setting setting,
      Map<String, String> environment,
      DeploymentProgress progress)
      throws Exception {
    List<String> guests = new ArrayList<>(setting.scenario().guests());
    if (guests.isEmpty()) {
      file.descriptor().guests().forEach(guest -> guests.add(guest.name().text()));
    }
    try (Workspace workspace = new Workspace(file)) {
      StateFolder state = workspace.state();
      if (state.exists() && !workspace.journal().isEmpty()) {
        throw new GraftException(
            "the deployment '" + state.deployment() + "' exists already",
            "graft destroy " + state.deployment() + " removes it");
      }
      workspace.apply(false, Consent.NONE, progress);
      return new GuestPlace(state, progress, environment, guests);
    } catch (UnfitHostException | HostUnreachableException e) {
      throw new NotPossibleException(e.getMessage());
    }
  }

  @Override
  public int capacity() {
    return guests.size();
  }

  @Override
  public List<Ended> run(Program program, int copies)
      throws PlaceLostException, InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(copies);
    try {
      List<Future<Ended>> running = new ArrayList<>();
      for (String guest : guests.subList(0, copies)) {
        Callable<Ended> one = () -> run(guest, program);
        running.add(pool.submit(one));
      }
      List<Ended> ended = new ArrayList<>();
      for (Future<Ended> one : running) {
        ended.add(one.get());
      }
      return ended;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof PlaceLostException lost) {
        throw lost;
      }
      throw new GraftException("running in a guest failed: " + e.getCause().getMessage(), "", e);
    } finally {
      pool.shutdown();
    }
  }

  private Ended run(String guest, Program program) throws PlaceLostException {
    AppliedGuest reached = AppliedGuest.of(journal, guest);
    long start = System.nanoTime();
    Duration limit = Duration.ofSeconds(Math.max(1, program.limit().toSeconds()));
    try {
      var result = reached.open(connections).run(words(program), new byte[0], limit);
      double seconds = (System.nanoTime() - start) / 1e9;
      String profile = program.profile() ? profile(reached) : "";
      return new Ended(
          result.code(), false, seconds, result.outputText(), result.errorText(), profile);
    } catch (HypervisorException | GraftException e) {
      if (isRunning(reached) && System.nanoTime() - start >= program.limit().toNanos()) {
        return new Ended(-1, true, program.limit().toSeconds(), "", "", "");
      }
      throw new PlaceLostException("guest '" + guest + "': " + e.getMessage(), e);
    }
  }

  private List<String> words(Program program) {
    Map<String, String> settings = new LinkedHashMap<>(environment);
    settings.putAll(program.environment());
    if (program.profile()) {
      settings.put("GRAFT_PROFILE", PROFILE);
    }
    List<String> words = new ArrayList<>();
    if (!settings.isEmpty()) {
      words.addAll(List.of("/bin/sh", "-c", WITH_SETTINGS, "sh"));
      settings.forEach((name, value) -> words.add(name + "=" + value));
      words.add("--");
    }
    boolean own = program.words().get(0).equals(Case.OWN_PROGRAM);
    words.add(own ? OWN_PROGRAM : program.words().get(0));
    words.addAll(program.words().subList(1, program.words().size()));
    return words;
  }

  private String profile(AppliedGuest reached) {
    return reached
        .open(connections)
        .run(List.of("/bin/cat", PROFILE), new byte[0], Duration.ofSeconds(10))
        .outputText();
  }

  @Override
  public String emptyCaches() throws PlaceLostException {
    for (String guest : guests) {
      try {
        var result =
            AppliedGuest.of(journal, guest)
                .open(connections)
                .run(List.of("/bin/sh", "-c", EMPTY_CACHES), new byte[0], EMPTY_LIMIT);
        if (result.code() != 0) {
          throw new GraftException("'" + EMPTY_CACHES + "': " + result.errorText().strip(), "");
        }
      } catch (HypervisorException | GraftException e) {
        throw new PlaceLostException("guest '" + guest + "': " + e.getMessage(), e);
      }
    }
    return CACHES;
  }

  private boolean isRunning(AppliedGuest reached) {
    try {
      return reached.isMachine()
          ? reached.open(connections).answers(ANSWER)
          : reached.domain(connections).state() == GuestState.RUNNING;
    } catch (HypervisorException | GraftException e) {
      return false;
    }
  }

  @Override
  public void close() {
    connections.close();
    try {
      UndoRun.destroy(state, progress);
    } catch (GraftException e) {
      throw e;
    } catch (Exception e) {
      throw new GraftException(
          "the deployment '" + state.deployment() + "' could not be removed: " + e.getMessage(),
          "graft destroy " + state.deployment(),
          e);
    }
  }
}
