package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.control.WorkerLog;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers' processes. Some are kept ready, so that a session starts without waiting for a Java
 * runtime and a CUDA context. No worker outlives its connection to the pool.
 */
public final class WorkerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
  private static final int CHECK_MILLIS = 1_000;

  /** A worker that takes longer than this to open its device is killed. */
  private static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final Duration EXIT_LIMIT = Duration.ofSeconds(10);

  private final WorkerCommand command;
  private final Listener listener;
  private final WorkerKind spareKind;
  private final int spares;
  private final ServerMetrics metrics;
  private final Thread thread = new Thread(this::listen, "graft-workers");

  private final WorkerAnswers answers = new WorkerAnswers();

  private final ExecutorService starter =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread made = new Thread(work, "graft-worker-start");
            made.setDaemon(true);
            return made;
          });

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Long, Worker> workers = new HashMap<>();
  private final List<Worker> starting = new ArrayList<>();
  private final List<Worker> ready = new ArrayList<>();
  private final Map<WorkerKind, Integer> waiting = new HashMap<>();
  private String lastFailure = "";
  private int failures;
  private boolean closing;

  /**
   * Creates a pool.
   *
   * @param socket the path of the private socket that workers connect to; its folder must be
   *     private
   * @param spareKind the kind of the spare workers
   * @param spares the number of spare workers
   */
  public WorkerPool(
      WorkerCommand command, Path socket, WorkerKind spareKind, int spares, ServerMetrics metrics)
      throws ServerException {
    this.command = command;
    this.spareKind = spareKind;
    this.spares = spares;
    this.metrics = metrics;
    this.listener = Listener.openUnix(socket, Libc.SOCK_SEQPACKET);
  }

  /**
   * Starts the first workers and waits until one is ready, so that a device that does not work is
   * reported now.
   *
   * @throws ServerException if no worker becomes ready, with its reason
   */
  public void start() throws ServerException {
    thread.start();
    lock.lock();
    try {
      long deadline = System.nanoTime() + START_LIMIT.toNanos();
      startWorker(spareKind);
      refill();
      while (ready.isEmpty()) {
        if (failures > 0) {
          throw new ServerException(lastFailure);
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
   * Returns a ready worker, which then belongs to the caller.
   *
   * @throws ServerException if no worker becomes ready in time, with the reason
   */
  public Worker take(WorkerKind kind, Duration limit) throws ServerException {
    long deadline = System.nanoTime() + limit.toNanos();
    lock.lock();
    waiting.merge(kind, 1, Integer::sum);
    try {
      int failuresBefore = failures;
      while (true) {
        Worker worker = firstReady(kind);
        if (worker != null) {
          ready.remove(worker);
          return worker;
        }
        if (closing) {
          throw new ServerException("the server is stopping");
        }
        if (failures > failuresBefore) {
          throw new ServerException(lastFailure);
        }
        if (count(starting, kind) < waiting.get(kind)) {
          startWorker(kind);
        }
        changed.awaitNanos(left(deadline, kind));
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      waiting.merge(kind, -1, Integer::sum);
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

  /** Returns the worker that serves this session of that name, null if there is none. */
  public Worker find(long sessionId, String name) {
    lock.lock();
    try {
      for (Worker worker : workers.values()) {
        ServedSession session = worker.session();
        if (session != null && session.id() == sessionId && session.name().equals(name)) {
          return worker;
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the secret that a further connection of the session must prove to know, null if there
   * is no such session.
   */
  public Bytes secret(long sessionId, String name) {
    Worker worker = find(sessionId, name);
    return worker == null ? null : worker.session().secret();
  }

  /** Ends the chosen sessions immediately, by killing their processes. */
  public void end(Predicate<ServedSession> chosen, String reason) {
    List<Worker> ended;
    lock.lock();
    try {
      ended =
          workers.values().stream()
              .filter(worker -> worker.session() != null && chosen.test(worker.session()))
              .toList();
    } finally {
      lock.unlock();
    }
    for (Worker worker : ended) {
      worker.session().ending(reason);
      worker.process().destroyForcibly();
    }
  }

  /** Returns the sessions that are served now. */
  public List<ServedSession> sessions() {
    lock.lock();
    try {
      return workers.values().stream().map(Worker::session).filter(s -> s != null).toList();
    } finally {
      lock.unlock();
    }
  }

  public int readyWorkers() {
    lock.lock();
    try {
      return ready.size();
    } finally {
      lock.unlock();
    }
  }

  private void refill() {
    // After a failure a worker is started only for a client that waits, so that a broken device
    // does not cause endless restarts.
    while (!closing
        && failures == 0
        && count(ready, spareKind) + count(starting, spareKind)
            < spares + waiting.getOrDefault(spareKind, 0)) {
      startWorker(spareKind);
    }
  }

  private void startWorker(WorkerKind kind) {
    try {
      Worker worker = new Worker(start(kind), kind);
      WorkerLog.copy(worker.process().getErrorStream(), System.err, "worker " + worker.pid());
      workers.put(worker.pid(), worker);
      starting.add(worker);
    } catch (IOException e) {
      failed("cannot start a worker: " + e.getMessage());
    }
  }

  /**
   * Starts a process from a thread that lives as long as the pool: the kernel kills a worker when
   * the thread that started it ends (PR_SET_PDEATHSIG), so that no worker outlives the server.
   */
  private WorkerCommand.Started start(WorkerKind kind) throws IOException {
    try {
      return starter.submit(() -> command.start(kind)).get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause
          ? cause
          : new IOException(e.getCause().toString(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private void failed(String reason) {
    failures++;
    lastFailure = reason;
    LOG.warn("{}", reason);
    changed.signalAll();
  }

  private void listen() {
    List<Worker> connected = new ArrayList<>();
    try {
      while (!isClosing()) {
        int[] fds = new int[1 + connected.size()];
        int[] events = new int[fds.length];
        fds[0] = listener.fd();
        events[0] = Libc.POLLIN;
        for (int i = 1; i < fds.length; i++) {
          fds[i] = connected.get(i - 1).control().fd();
          events[i] = Libc.POLLIN;
        }
        int[] answers = NativeSocket.poll(CHECK_MILLIS, fds, events);
        for (int i = fds.length - 1; i > 0; i--) {
          if (answers[i] != 0 && !hear(connected.get(i - 1))) {
            gone(connected.remove(i - 1));
          }
        }
        if (answers[0] != 0 && !isClosing()) {
          accept(connected);
        }
        dropSilent(connected);
      }
    } catch (IOException e) {
      LOG.error("the worker pool stops listening: {}", e.getMessage());
    } finally {
      connected.forEach(worker -> worker.control().close());
    }
  }

  private boolean isClosing() {
    lock.lock();
    try {
      return closing;
    } finally {
      lock.unlock();
    }
  }

  private void accept(List<Worker> connected) throws IOException {
    NativeSocket socket = listener.accept();
    long pid = socket.peerProcess();
    lock.lock();
    try {
      Worker worker = workers.get(pid);
      if (worker == null || worker.control() != null) {
        LOG.warn("process {} connected to the private socket and is not a worker", pid);
        socket.close();
        return;
      }
      worker.connected(new ControlSocket(socket));
      connected.add(worker);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Receives one message. A worker that executes a guest's calls may be compromised and send
   * anything; a message that it must not send ends it.
   *
   * @return false if the worker has ended or must end
   */
  private boolean hear(Worker worker) {
    ControlSocket.Received received;
    try {
      received = worker.control().receive();
      if (received == null) {
        return false;
      }
      hear(worker, received);
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("worker {} is killed: {}", worker.pid(), e.toString());
      worker.process().destroyForcibly();
      return false;
    }
  }

  private void hear(Worker worker, ControlSocket.Received received) throws IOException {
    ServedSession session = worker.session();
    if (session != null && answers.hear(session, received, worker.control())) {
      return;
    }
    received.discard();
    if (session == null && received.message() instanceof ControlMessage.Ready) {
      becomesReady(worker);
    } else if (session == null && received.message() instanceof ControlMessage.Failed failed) {
      worker.failed(failed.reason());
    } else if (session != null && received.message() instanceof ControlMessage.Used used) {
      session.used(used);
    } else if (session != null && received.message() instanceof ControlMessage.Ended ended) {
      session.ending(ended.reason());
    } else {
      throw new IOException(
          "it must not send " + received.message().getClass().getSimpleName() + " now");
    }
  }

  /**
   * A worker may become ready only once, or a compromised worker could have a second guest handed
   * to it.
   */
  private void becomesReady(Worker worker) throws IOException {
    lock.lock();
    try {
      if (!starting.remove(worker)) {
        throw new IOException("it reports a second time that it is ready");
      }
      ready.add(worker);
      failures = 0;
      changed.signalAll();
      refill();
    } finally {
      lock.unlock();
    }
  }

  /** Kills the workers that did not connect or open their device in time. */
  private void dropSilent(List<Worker> connected) {
    List<Worker> dropped;
    lock.lock();
    try {
      dropped =
          starting.stream()
              .filter(
                  w ->
                      w.ageNanos() > START_LIMIT.toNanos()
                          || (w.control() == null && !w.process().isAlive()))
              .toList();
    } finally {
      lock.unlock();
    }
    for (Worker worker : dropped) {
      worker.process().destroyForcibly();
      connected.remove(worker);
      gone(worker);
    }
  }

  /**
   * Waits for the end of a process on a thread of its own, because the release of a GPU's context
   * may take a while and would delay the messages of other workers.
   */
  private void gone(Worker worker) {
    if (worker.control() != null) {
      worker.control().close();
    }
    Thread end = new Thread(null, () -> bury(worker), "graft-worker-end", 128 * 1024);
    end.setDaemon(true);
    end.start();
  }

  private void bury(Worker worker) {
    int status = exitStatus(worker.process());
    leave(worker);
    lock.lock();
    try {
      workers.remove(worker.pid());
      boolean unready = starting.remove(worker);
      ready.remove(worker);
      if (unready && !closing) {
        failed(worker.failure(status));
      }
      refill();
    } finally {
      lock.unlock();
    }
    ServedSession session = worker.session();
    if (session != null) {
      answers.drop(session);
      metrics.sessionEnded(session);
      LOG.info("{}", session.endLine(status));
    }
  }

  private void leave(Worker worker) {
    if (worker.leaves()) {
      command.ended(worker.cell());
    }
  }

  private static int exitStatus(Process process) {
    try {
      if (!process.waitFor(EXIT_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      return -1;
    }
  }

  /** Ends all workers and their sessions, and waits until the processes have ended. */
  @Override
  public void close() {
    List<Worker> all;
    lock.lock();
    try {
      closing = true;
      all = List.copyOf(workers.values());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    listener.shutdown();
    try {
      thread.join(EXIT_LIMIT.toMillis());
      for (Worker worker : all) {
        if (worker.control() == null) {
          worker.process().destroyForcibly();
        }
        exitStatus(worker.process());
        leave(worker);
      }
    } catch (InterruptedException e) {
      all.forEach(worker -> worker.process().destroyForcibly());
      Thread.currentThread().interrupt();
    }
    listener.close();
    starter.shutdown();
    answers.close();
  }
}
