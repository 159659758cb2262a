package graft.deployment;

import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.power.ShutdownRequests;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.host.HostServer;
import graft.hypervisors.libvirt.Guest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Starts and stops the guests and the servers of a deployment. What is applied stays as it is: a
 * guest that is stopped keeps its definition, disks and devices, and {@code graft apply} would
 * start it again.
 */
public final class PowerRun {
  private static final Duration PAUSE = Duration.ofMillis(250);

  private final StateFolder state;
  private final DeploymentProgress progress;

  /** A deployment that was applied. */
  public PowerRun(StateFolder state, DeploymentProgress progress) {
    this.state = state;
    this.progress = progress;
  }

  /**
   * How a guest is stopped.
   *
   * @param limit how long it may take to shut down
   * @param force whether its power is cut after that
   */
  public record Stopping(Duration limit, boolean force) {}

  /** What was done with each name. */
  public enum Outcome {
    STARTED("started"),
    STOPPED("stopped"),
    CUT("stopped: it did not shut down in time, and its power was cut"),
    RAN("ran already"),
    WAS_OFF("was off already");

    private final String words;

    Outcome(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }

  /**
   * Starts the servers, then the guests, and waits until they serve or are ready.
   *
   * @param names guests and GPUs of this host; if empty, all
   */
  public Map<String, Outcome> start(List<String> names) throws Exception {
    return run("start", names, this::startAll);
  }

  /**
   * Shuts the guests down, then stops the servers.
   *
   * @param names guests and GPUs of this host; if empty, all
   */
  public Map<String, Outcome> stop(List<String> names, Stopping how) throws Exception {
    return run("stop", names, (chosen, context) -> stopAll(chosen, how, context));
  }

  /** Stops and starts. Guests that were off are started, too. */
  public Map<String, Outcome> restart(List<String> names, Stopping how) throws Exception {
    return run(
        "restart",
        names,
        (chosen, context) -> {
          stopAll(chosen, how, context);
          return startAll(chosen, context);
        });
  }

  /**
   * Does something with a guest that is off, while the deployment is locked. A guest that was
   * stopped for it is started again afterwards, also if it failed.
   *
   * @param command for the journal
   * @param how the guest is stopped if it runs; empty to leave that to the work
   */
  public <T> T whileOff(String command, String guest, Optional<Stopping> how, Callable<T> work)
      throws Exception {
    return run(
        command,
        "graft snapshot list "
            + state.deployment()
            + " "
            + guest
            + " says how far it came, and graft start starts the guest",
        List.of(guest),
        (all, context) -> {
          Chosen chosen = new Chosen(all.journal(), List.of(), List.of(guest));
          boolean ran =
              how.isPresent() && stopAll(chosen, how.get(), context).get(guest) != Outcome.WAS_OFF;
          T result;
          try {
            result = work.call();
          } catch (Exception e) {
            if (ran) {
              startAfter(e, chosen, context);
            }
            throw e;
          }
          if (ran) {
            startAll(chosen, context);
          }
          return result;
        });
  }

  private void startAfter(Exception failure, Chosen chosen, LiveContext context) {
    try {
      startAll(chosen, context);
    } catch (Exception e) {
      failure.addSuppressed(e);
      progress.warning("the guest stays off: " + e.getMessage());
    }
  }

  private interface Work<T> {
    T on(Chosen chosen, LiveContext context) throws Exception;
  }

  /** What the names mean, in the order in which it was applied. */
  private record Chosen(JournalState journal, List<HostServer> servers, List<String> guests) {
    static Chosen of(JournalState journal, List<String> names) {
      List<HostServer> servers = new ArrayList<>();
      for (Entry entry : journal.entries().values()) {
        if (entry.step() instanceof HostServer server) {
          servers.add(server);
        }
      }
      List<String> guests = AppliedGuest.made(journal);
      List<String> known = new ArrayList<>(guests);
      servers.forEach(server -> known.add(server.gpu()));
      for (String name : names) {
        if (!known.contains(name)) {
          throw new GraftException(
              "there is no guest '" + name + "' and no GPU of that name that this host serves",
              Spelling.hint(name, known));
        }
      }
      return new Chosen(
          journal,
          servers.stream().filter(s -> names.isEmpty() || names.contains(s.gpu())).toList(),
          guests.stream().filter(g -> names.isEmpty() || names.contains(g)).toList());
    }

    /**
     * What is done in a guest that runs: waiting for it, and bringing files, which a guest without
     * a disk has lost. Devices and disks that it got while it ran are in its definition.
     */
    List<Step> afterStart(String guest) {
      return AppliedGuest.of(journal, guest).steps().stream()
          .dropWhile(step -> !(step instanceof StartGuest))
          .skip(1)
          .filter(step -> !step.isBeforeStart())
          .toList();
    }

    <T extends Step> Optional<T> step(String guest, Class<T> type, String name) {
      return journal.step("guest/" + guest + "/" + name, type);
    }
  }

  private <T> T run(String command, List<String> names, Work<T> work) throws Exception {
    return run(
        command, "graft " + command + " " + state.deployment() + " does the rest", names, work);
  }

  private <T> T run(String command, String afterwards, List<String> names, Work<T> work)
      throws Exception {
    if (!state.exists()) {
      throw new GraftException(
          "there is no deployment '" + state.deployment() + "' here", "graft apply makes it");
    }
    return DeploymentLock.holding(state, () -> locked(command, afterwards, names, work));
  }

  private <T> T locked(String command, String afterwards, List<String> names, Work<T> work)
      throws Exception {
    try (Connections connections = new Connections();
        Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      Chosen chosen = Chosen.of(journal.state(), names);
      LiveContext context = new LiveContext(connections, journal, progress);
      journal.note(command);
      return progress.interruptible("interrupted: " + afterwards, () -> work.on(chosen, context));
    }
  }

  private Map<String, Outcome> startAll(Chosen chosen, LiveContext context) throws Exception {
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    for (HostServer server : chosen.servers()) {
      boolean runs = server.runs();
      if (!runs) {
        doing(server, () -> server.apply(context));
      }
      outcomes.put(server.gpu(), runs ? Outcome.RAN : Outcome.STARTED);
    }
    for (String guest : chosen.guests()) {
      StartGuest start =
          chosen.step(guest, StartGuest.class, "start").orElseThrow(() -> off(guest));
      boolean runs = domain(chosen, guest, context).map(d -> d.state().isActive()).orElse(false);
      if (!runs) {
        doing(start, () -> start.apply(context));
      }
      outcomes.put(guest, runs ? Outcome.RAN : Outcome.STARTED);
    }
    for (String guest : chosen.guests()) {
      if (outcomes.get(guest) == Outcome.STARTED) {
        for (Step step : chosen.afterStart(guest)) {
          doing(step, () -> step.apply(context));
        }
      }
    }
    return outcomes;
  }

  private static GraftException off(String guest) {
    return new GraftException(
        "the guest '" + guest + "' was never started by this deployment", "graft apply does it");
  }

  private interface Doing {
    void run() throws Exception;
  }

  private void doing(Step step, Doing work) throws Exception {
    long began = System.nanoTime();
    progress.beginning(step);
    try {
      work.run();
    } catch (Exception e) {
      progress.failed(step, String.valueOf(e.getMessage()));
      throw e;
    }
    progress.done(step, Duration.ofNanos(System.nanoTime() - began));
  }

  private Optional<Guest> domain(Chosen chosen, String guest, LiveContext context) {
    return chosen
        .step(guest, StartGuest.class, "start")
        .flatMap(
            start ->
                context
                    .libvirt(start.uri())
                    .guest(guest)
                    .filter(found -> found.uuid().toString().equals(start.uuid())));
  }

  private Map<String, Outcome> stopAll(Chosen chosen, Stopping how, LiveContext context)
      throws Exception {
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    Map<String, ShutdownRequests> running = new LinkedHashMap<>();
    for (String guest : chosen.guests()) {
      Optional<Guest> found = domain(chosen, guest, context).filter(d -> d.state().isActive());
      found.ifPresent(domain -> running.put(guest, new ShutdownRequests(guest, domain)));
      outcomes.put(guest, found.isPresent() ? Outcome.STOPPED : Outcome.WAS_OFF);
    }
    awaitOff(running, how.limit(), context);
    for (Map.Entry<String, ShutdownRequests> left : running.entrySet()) {
      if (!how.force()) {
        throw left.getValue().tooLate(how.limit());
      }
      left.getValue().cutPower();
      outcomes.put(left.getKey(), Outcome.CUT);
    }
    List<HostServer> servers = new ArrayList<>(chosen.servers());
    Collections.reverse(servers);
    for (HostServer server : servers) {
      boolean runs = server.runs();
      server.stop();
      outcomes.put(server.gpu(), runs ? Outcome.STOPPED : Outcome.WAS_OFF);
    }
    return outcomes;
  }

  /** Asks guests to shut down, and removes those that did from the map. */
  private void awaitOff(Map<String, ShutdownRequests> running, Duration limit, LiveContext context)
      throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    long ask = System.nanoTime();
    Set<String> warned = new HashSet<>();
    while (!running.isEmpty() && System.nanoTime() - end < 0 && !context.isStopping()) {
      if (System.nanoTime() - ask >= 0) {
        running.values().forEach(ShutdownRequests::ask);
        ask = System.nanoTime() + ShutdownRequests.ASK_AGAIN.toNanos();
      }
      TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
      running.values().removeIf(guest -> !guest.isOn());
      running.forEach(
          (guest, requests) ->
              requests
                  .failure()
                  .filter(why -> warned.add(guest))
                  .ifPresent(
                      why ->
                          progress.warning(
                              "the guest '" + guest + "' is asked again to shut down: " + why)));
    }
  }
}
