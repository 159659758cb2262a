package graft.deployment.hosts;

import graft.common.values.Name;
import graft.deployment.descriptor.hosts.OnFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Asks several hosts at one time, each after those that have to come before it, and does with a
 * failure what the descriptor says.
 */
final class Schedule {
  private final int most;
  private final OnFailure policy;
  private final Consumer<Name> interrupt;

  /**
   * A schedule.
   *
   * @param most the most hosts at one time
   * @param interrupt interrupts a host at work; called from several threads
   */
  Schedule(int most, OnFailure policy, Consumer<Name> interrupt) {
    this.most = most;
    this.policy = policy;
    this.interrupt = interrupt;
  }

  /**
   * A host to ask.
   *
   * @param after the hosts that have to be done before
   */
  record Task(Name host, Set<Name> after) {}

  /**
   * Asks the hosts.
   *
   * @return the answers, in the order of the tasks
   */
  List<HostReply> run(List<Task> tasks, Function<Name, HostReply> ask) throws InterruptedException {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      return run(tasks, ask, threads);
    } finally {
      threads.shutdownNow();
    }
  }

  private List<HostReply> run(
      List<Task> tasks, Function<Name, HostReply> ask, ExecutorService threads)
      throws InterruptedException {
    CompletionService<HostReply> asked = new ExecutorCompletionService<>(threads);
    Map<Name, HostReply> done = new HashMap<>();
    Set<Name> running = new HashSet<>();
    List<Task> waiting = new ArrayList<>(tasks);
    Optional<Name> failed = Optional.empty();
    Set<Name> all = new HashSet<>(tasks.stream().map(Task::host).toList());
    while (!waiting.isEmpty() || !running.isEmpty()) {
      begin(waiting, running, done, all, failed, asked, ask);
      if (running.isEmpty()) {
        continue; // begin has said of each that waited why it does not begin
      }
      HostReply reply = result(asked);
      running.remove(reply.host());
      done.put(reply.host(), reply);
      if (!reply.isDone() && policy != OnFailure.LEAVE && failed.isEmpty()) {
        failed = Optional.of(reply.host());
        if (policy == OnFailure.STOP) {
          running.forEach(host -> threads.execute(() -> interrupt.accept(host)));
        }
      }
    }
    Map<Name, HostReply> ordered = new LinkedHashMap<>();
    tasks.forEach(task -> ordered.put(task.host(), done.get(task.host())));
    return List.copyOf(ordered.values());
  }

  private void begin(
      List<Task> waiting,
      Set<Name> running,
      Map<Name, HostReply> done,
      Set<Name> all,
      Optional<Name> failed,
      CompletionService<HostReply> asked,
      Function<Name, HostReply> ask) {
    boolean changed = true;
    while (changed) { // a host that does not begin keeps those after it from beginning
      changed = false;
      for (Task task : List.copyOf(waiting)) {
        Name host = task.host();
        Optional<Name> before = failed.or(() -> failedBefore(task, done));
        boolean isReady =
            task.after().stream().allMatch(name -> done.containsKey(name) || !all.contains(name));
        if (before.isPresent()) {
          done.put(
              host, HostReply.notBegun(host, "not begun, since '" + before.get() + "' failed"));
        } else if (isReady && running.size() < most) {
          running.add(host);
          asked.submit(() -> answer(host, ask));
        } else {
          continue;
        }
        waiting.remove(task);
        changed = true;
      }
    }
  }

  private static Optional<Name> failedBefore(Task task, Map<Name, HostReply> done) {
    return task.after().stream()
        .filter(name -> done.containsKey(name) && !done.get(name).isDone())
        .sorted()
        .findFirst();
  }

  private static HostReply answer(Name host, Function<Name, HostReply> ask) {
    try {
      return ask.apply(host);
    } catch (RuntimeException e) {
      return HostReply.unreachable(host, String.valueOf(e.getMessage()));
    }
  }

  private static HostReply result(CompletionService<HostReply> asked) throws InterruptedException {
    try {
      return asked.take().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
