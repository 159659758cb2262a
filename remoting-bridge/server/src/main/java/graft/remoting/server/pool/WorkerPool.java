package graft.remoting.server.pool;

import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The workers' processes. Some are kept ready, so that a session starts without waiting for a Java
 * runtime and a CUDA context. No worker outlives its connection to the pool.
 */
public final class WorkerPool implements AutoCloseable {
  /** A worker that takes longer than this to open its device is killed. */
  static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final Duration EXIT_LIMIT = Duration.ofSeconds(10);

  private final StartThread starts;
  private final WorkerKind spareKind;
  private final int spares;
  private final ServerMetrics metrics;
  private final ServerAudit audit;
  private final LogBudgets budgets = new LogBudgets();
  private final WorkerAnswers answers;
  private final GuestNumbers guests = new GuestNumbers();
  private final WorkerListener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Long, Worker> workers = new HashMap<>();
  private final List<Worker> starting = new ArrayList<>();
  private final List<Worker> ready = new ArrayList<>();
  private final Map<WorkerKind, Integer> waiting = new HashMap<>();

  /** Of those that wait, how many have no session yet. */
  private final Map<WorkerKind, Integer> newcomers = new HashMap<>();

  private final WorkerFailures failures;

  /** Those whose contexts a fault has made useless; none is started before they have ended. */
  private final Set<Worker> faulted = new HashSet<>();

  private boolean closing;
  private volatile Consumer<String> sessionEnd = guest -> {};

  /** The kind of the spare workers, and their number. */
  public record Spares(WorkerKind kind, int count) {}

  /**
   * Creates a pool.
   *
   * @param socket the private socket that workers connect to, in a private folder
   * @param spares the spare workers to keep
   * @param keptData the most bytes of clients' data that are kept for their next sessions
   * @param failures how long it pauses after failures
   */
  public WorkerPool(
      WorkerStarter processes,
      Path socket,
      Spares spares,
      ServerMetrics metrics,
      ServerAudit audit,
      long keptData,
      WorkerFailures failures)
      throws ServerException {
    this.failures = failures;
    this.starts = new StartThread(processes);
    this.spareKind = spares.kind();
    this.spares = spares.count();
    this.metrics = metrics;
    this.audit = audit;
    this.answers = new WorkerAnswers(keptData);
    this.listener = new WorkerListener(this, answers, audit, socket);
  }

  /**
   * Starts the first workers and waits until one is ready, so that a device that does not work is
   * reported now.
   *
   * @throws ServerException if no worker becomes ready, with its reason
   */
  public void start() throws ServerException {
    listener.start();
    lock.lock();
    try {
      long deadline = System.nanoTime() + START_LIMIT.toNanos();
      startWorker(spareKind);
      refill();
      while (ready.isEmpty()) {
        if (failures.isFailing(spareKind)) {
          throw new ServerException(failures.reason(spareKind));
        }
        changed.awaitNanos(left(deadline, spareKind));
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends all workers after a fault of one on MPS, which takes no new client before they have all
   * gone. Returns those that have a session, which the caller ends; none a second time.
   */
  List<Worker> endAfterFault() {
    List<Worker> all =
        locked(
            () -> {
              ready.clear();
              return workers.values().stream().filter(faulted::add).toList();
            });
    all.stream().filter(w -> w.session() == null).forEach(w -> w.process().kill());
    return all.stream().filter(worker -> worker.session() != null).toList();
  }

  /**
   * Returns a ready worker, which then belongs to the caller. After a failure one worker is started
   * at a time, and not before the pause that {@link WorkerFailures} gives.
   *
   * @param isNewcomer whether the worker is for a guest that has no session. Such a guest gets the
   *     next worker, so that one that opens many sessions does not delay it
   * @throws ServerException if no worker becomes ready in time, with the reason
   */
  public Worker take(WorkerKind kind, boolean isNewcomer, Duration limit) throws ServerException {
    long deadline = System.nanoTime() + limit.toNanos();
    lock.lock();
    waiting.merge(kind, 1, Integer::sum);
    newcomers.merge(kind, isNewcomer ? 1 : 0, Integer::sum);
    try {
      long failuresBefore = failures.count(kind);
      while (true) {
        Worker worker = isNewcomer || newcomers.get(kind) == 0 ? firstReady(kind) : null;
        if (worker != null) {
          ready.remove(worker);
          return worker;
        }
        if (closing) {
          throw new ServerException("the server is stopping");
        }
        if (failures.count(kind) > failuresBefore) {
          throw new ServerException(failures.reason(kind));
        }
        int started = faulted.isEmpty() ? count(starting, kind) : Integer.MAX_VALUE;
        if (failures.isFailing(kind) ? started == 0 : started < waiting.get(kind)) {
          Optional<String> obstacle = failures.obstacle(kind);
          if (obstacle.isPresent()) {
            throw new ServerException(obstacle.get());
          }
          startWorker(kind);
          continue; // which may have failed at once
        }
        changed.awaitNanos(left(deadline, kind));
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      waiting.merge(kind, -1, Integer::sum);
      if (isNewcomer) {
        newcomers.merge(kind, -1, Integer::sum);
        changed.signalAll();
      }
      refill();
      lock.unlock();
    }
  }

  private static long left(long deadline, WorkerKind kind) throws ServerException {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      throw new ServerException("no worker for device " + kind + " was ready in time");
    }
    return left;
  }

  private static ServerException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new ServerException("interrupted while waiting for a worker", cause);
  }

  private Worker firstReady(WorkerKind kind) {
    return ready.stream().filter(w -> w.kind().serves(kind)).findFirst().orElse(null);
  }

  private static int count(List<Worker> list, WorkerKind kind) {
    return (int) list.stream().filter(w -> w.kind().serves(kind)).count();
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the workers that serve the chosen sessions. */
  public List<Worker> serving(Predicate<ServedSession> chosen) {
    return locked(
        () ->
            workers.values().stream()
                .filter(worker -> worker.session() != null && chosen.test(worker.session()))
                .toList());
  }

  public VchanOffer grant(String domain) throws IOException {
    return starts.grant(domain);
  }

  /** Returns whether a process is one of the workers. */
  public boolean hasWorker(long process) {
    return locked(() -> workers.containsKey(process));
  }

  /** Returns the worker that serves this session of that name, null if there is none. */
  public Worker find(long sessionId, String name) {
    return serving(session -> session.id() == sessionId && session.name().equals(name)).stream()
        .findFirst()
        .orElse(null);
  }

  /** Ends the chosen sessions immediately, by killing their processes. */
  public void end(Predicate<ServedSession> chosen, String reason) {
    for (Worker worker : serving(chosen)) {
      worker.session().endsBecause(reason);
      worker.process().kill();
    }
  }

  /** Drops what is kept for the next sessions of the names that are not chosen. */
  public void keepContentsOf(Predicate<String> chosen) {
    answers.retain(chosen);
  }

  /** Sets what is told the guest's name each time a session has ended and its worker is gone. */
  public void onSessionEnd(Consumer<String> action) {
    sessionEnd = action;
  }

  /** Returns the sessions that are served now. */
  public List<ServedSession> sessions() {
    return serving(session -> true).stream().map(Worker::session).toList();
  }

  public SmallRegions regions() {
    return listener.regions();
  }

  public int readyWorkers() {
    return locked(ready::size);
  }

  /** Ends ready workers of kinds that nobody waits for, so that only spares wait for clients. */
  private void endSurplus() {
    for (Worker worker : List.copyOf(ready)) {
      WorkerKind kind = worker.kind();
      if (!kind.serves(spareKind) && !isAwaited(kind)) {
        ready.remove(worker);
        worker.process().kill();
      }
    }
  }

  private boolean isAwaited(WorkerKind kind) {
    return waiting.keySet().stream().anyMatch(k -> waiting.get(k) > 0 && kind.serves(k));
  }

  private void refill() {
    endSurplus();
    // After a failure a worker is started only for a client that waits, so that a broken device
    // does not cause endless restarts.
    while (!closing
        && faulted.isEmpty()
        && !failures.holdsUpSpares(spareKind)
        && count(ready, spareKind) + count(starting, spareKind)
            < spares + waiting.getOrDefault(spareKind, 0)) {
      startWorker(spareKind);
    }
  }

  private void startWorker(WorkerKind kind) {
    try {
      Worker worker = new Worker(starts.start(kind), kind, guests);
      budgets.copyLog(worker, System.err);
      workers.put(worker.pid(), worker);
      starting.add(worker);
      if (worker.control() != null) {
        listener.add(worker);
      }
    } catch (IOException e) {
      failed(kind, "cannot start a worker: " + e.getMessage());
    }
  }

  private void failed(WorkerKind kind, String reason) {
    failures.failed(kind, reason);
    changed.signalAll();
  }

  /** Returns the worker whose process connected to the private socket, null if it is none. */
  Worker connected(NativeSocket socket) throws IOException {
    lock.lock();
    try {
      Worker worker = workers.get((long) socket.peerProcess());
      if (worker == null || worker.control() != null) {
        return null;
      }
      worker.connected(new ControlSocket(socket));
      return worker;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes a worker available. A worker may become ready only once, or a compromised worker could
   * have a second guest handed to it.
   */
  void ready(Worker worker) throws IOException {
    lock.lock();
    try {
      if (!starting.remove(worker)) {
        throw new IOException("it reports a second time that it is ready");
      }
      if (!faulted.contains(worker)) {
        ready.add(worker);
      }
      failures.succeeded(worker.kind());
      changed.signalAll();
      refill();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the workers that are not ready yet, and starts spares whose pause is over. */
  List<Worker> starting() {
    return locked(
        () -> {
          refill();
          return List.copyOf(starting);
        });
  }

  /** Waits for the end of a process on a thread of its own: a GPU's context ends slowly. */
  void ended(Worker worker) {
    if (worker.control() != null) {
      worker.control().close();
    }
    Thread end = new Thread(null, () -> remove(worker), "graft-worker-end", 128 * 1024);
    end.setDaemon(true);
    end.start();
  }

  private void remove(Worker worker) {
    int status = worker.awaitExit(EXIT_LIMIT);
    ServedSession session = worker.session();
    if (session != null) {
      session.release(); // before its place is free for another one
    }
    lock.lock();
    try {
      workers.remove(worker.pid());
      boolean unready = starting.remove(worker);
      boolean spare = ready.remove(worker);
      if (faulted.remove(worker)) {
        changed.signalAll();
      } else if (unready && !closing) {
        failed(worker.kind(), worker.failure(status));
      } else if (spare && !closing) {
        failures.spareEnded(worker.kind(), status);
      }
      refill();
    } finally {
      lock.unlock();
    }
    if (session != null) {
      answers.drop(session);
      guests.end(session.name());
      sessionEnd.accept(session.name());
      listener.regions().ended(session);
      metrics.sessionEnded(session);
      audit.ended(session, status);
      SessionLog.ended(session, status);
    }
  }

  /** Ends all workers and their sessions, and waits until the processes have ended. */
  @Override
  public void close() {
    List<Worker> all =
        locked(
            () -> {
              closing = true;
              changed.signalAll();
              return List.copyOf(workers.values());
            });
    try {
      listener.stop(EXIT_LIMIT);
      for (Worker worker : all) {
        worker.awaitClose(EXIT_LIMIT);
      }
    } catch (InterruptedException e) {
      all.forEach(worker -> worker.process().kill());
      Thread.currentThread().interrupt();
    }
    listener.close();
    starts.close();
    answers.close();
  }
}
