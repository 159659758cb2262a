package graft.remoting.server;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers' processes: some are kept ready, so that a session starts without waiting for a Java
 * runtime and a CUDA context. One thread hears what they say; none outlives its connection to the
 * pool.
 */
final class WorkerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
  private static final int CHECK_MILLIS = 1_000;

  /** For a worker that hangs: one that cannot start ends, and is seen to. */
  private static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final Duration EXIT_LIMIT = Duration.ofSeconds(10);

  private final WorkerCommand command;
  private final Listener listener;
  private final DeviceSpec spareDevice;
  private final int spares;
  private final ServerMetrics metrics;
  private final Thread thread = new Thread(this::listen, "graft-workers");

  private final SharedHandles shared = new SharedHandles();
  private final CodeCache code = new CodeCache();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Long, Worker> workers = new HashMap<>();
  private final List<Worker> starting = new ArrayList<>();
  private final List<Worker> ready = new ArrayList<>();
  private final Map<DeviceSpec, Integer> waiting = new HashMap<>();
  private String lastFailure = "";
  private int failures;
  private boolean closing;

  /**
   * A pool.
   *
   * @param socket where its workers connect; the folder must be private
   * @param spareDevice the device whose workers are kept ready
   * @param spares how many
   */
  WorkerPool(
      WorkerCommand command, Path socket, DeviceSpec spareDevice, int spares, ServerMetrics metrics)
      throws ServerException {
    this.command = command;
    this.spareDevice = spareDevice;
    this.spares = spares;
    this.metrics = metrics;
    this.listener = Listener.openUnix(socket, Libc.SOCK_SEQPACKET);
  }

  /**
   * Starts the first workers and waits until one is ready, so that a device that cannot work is
   * found now.
   *
   * @throws ServerException when none gets ready, with its reason
   */
  void start() throws ServerException {
    thread.start();
    lock.lock();
    try {
      long deadline = System.nanoTime() + START_LIMIT.toNanos();
      startWorker(spareDevice);
      refill();
      while (ready.isEmpty()) {
        if (failures > 0) {
          throw new ServerException(lastFailure);
        }
        changed.awaitNanos(left(deadline, spareDevice));
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A ready worker, which is the caller's from now on.
   *
   * @throws ServerException when there is none in time, with the reason
   */
  Worker take(DeviceSpec device, Duration limit) throws ServerException {
    long deadline = System.nanoTime() + limit.toNanos();
    lock.lock();
    waiting.merge(device, 1, Integer::sum);
    try {
      int failuresBefore = failures;
      while (true) {
        Worker worker = firstReady(device);
        if (worker != null) {
          ready.remove(worker);
          return worker;
        }
        if (closing) {
          throw new ServerException("the server stops");
        }
        if (failures > failuresBefore) {
          throw new ServerException(lastFailure);
        }
        if (count(starting, device) < waiting.get(device)) {
          startWorker(device);
        }
        changed.awaitNanos(left(deadline, device));
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      waiting.merge(device, -1, Integer::sum);
      refill();
      lock.unlock();
    }
  }

  private static long left(long deadline, DeviceSpec device) throws ServerException {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      throw new ServerException("no worker for device " + device + " was ready in time");
    }
    return left;
  }

  private static ServerException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new ServerException("interrupted while waiting for a worker", cause);
  }

  private Worker firstReady(DeviceSpec device) {
    return ready.stream().filter(w -> w.device().equals(device)).findFirst().orElse(null);
  }

  private static int count(List<Worker> list, DeviceSpec device) {
    return (int) list.stream().filter(w -> w.device().equals(device)).count();
  }

  /** The worker that serves a session of that name, null when there is none. */
  Worker find(long sessionId, String name) {
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

  /** What a further connection of that session must prove to have, null when there is none. */
  Bytes secret(long sessionId, String name) {
    Worker worker = find(sessionId, name);
    return worker == null ? null : worker.session().secret();
  }

  /** Ends the sessions that are chosen, at once: their processes are killed. */
  void end(Predicate<ServedSession> chosen, String reason) {
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

  /** The sessions that are served now. */
  List<ServedSession> sessions() {
    lock.lock();
    try {
      return workers.values().stream().map(Worker::session).filter(s -> s != null).toList();
    } finally {
      lock.unlock();
    }
  }

  int readyWorkers() {
    lock.lock();
    try {
      return ready.size();
    } finally {
      lock.unlock();
    }
  }

  private void refill() {
    // After a failure only a client's wait starts another, so that a broken device costs no endless
    // restarts.
    while (!closing
        && failures == 0
        && count(ready, spareDevice) + count(starting, spareDevice)
            < spares + waiting.getOrDefault(spareDevice, 0)) {
      startWorker(spareDevice);
    }
  }

  private void startWorker(DeviceSpec device) {
    try {
      Worker worker = new Worker(command.start(device), device);
      workers.put(worker.pid(), worker);
      starting.add(worker);
    } catch (IOException e) {
      failed("cannot start a worker: " + e.getMessage());
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
      LOG.error("the pool of workers ends: {}", e.getMessage());
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
        LOG.warn("process {} connected to the private socket and is no worker", pid);
        socket.close();
        return;
      }
      worker.connected(new ControlSocket(socket));
      connected.add(worker);
    } finally {
      lock.unlock();
    }
  }

  /** Hears one message; false when the worker has gone. */
  private boolean hear(Worker worker) {
    ControlSocket.Received received;
    try {
      received = worker.control().receive();
    } catch (IOException e) {
      LOG.warn("worker {}: {}", worker.pid(), e.getMessage());
      return false;
    }
    if (received == null) {
      return false;
    }
    ServedSession session = worker.session();
    if (received.message() instanceof ControlMessage.Ready) {
      becomesReady(worker);
    } else if (received.message() instanceof ControlMessage.Failed failed) {
      worker.failed(failed.reason());
    } else if (received.message() instanceof ControlMessage.Used used && session != null) {
      session.used(used);
    } else if (received.message() instanceof ControlMessage.Ended ended && session != null) {
      session.ending(ended.reason());
    } else if (session != null) {
      return answer(worker, session, received);
    }
    return true;
  }

  /** Answers a question about what the sessions of a name share; false when the worker has gone. */
  private boolean answer(Worker worker, ServedSession session, ControlSocket.Received question) {
    Bytes bytes = Bytes.NONE;
    int fd = -1;
    boolean taken = false;
    if (question.message() instanceof ControlMessage.Give give) {
      taken = shared.put(session, give.token(), give.handle(), question.fd());
      bytes = taken ? give.handle() : Bytes.NONE;
    } else if (question.message() instanceof ControlMessage.Find find) {
      SharedHandles.Given given = shared.find(session, find.token());
      bytes = given == null ? Bytes.NONE : given.handle();
      fd = given == null ? -1 : given.fd();
    } else if (question.message() instanceof ControlMessage.KnownCode) {
      bytes = code.known(session);
    } else if (question.message() instanceof ControlMessage.KeepCode keep) {
      taken = code.put(session, keep.hash(), question.fd());
      bytes = taken ? keep.hash() : Bytes.NONE;
    } else if (question.message() instanceof ControlMessage.FindCode find) {
      fd = code.find(session, find.hash());
    } else {
      return true;
    }
    if (!taken && question.fd() >= 0) {
      Libc.close(question.fd());
    }
    try {
      worker.control().send(new ControlMessage.Shared(bytes), fd);
      return true;
    } catch (IOException e) {
      LOG.warn("worker {}: {}", worker.pid(), e.getMessage());
      return false;
    }
  }

  private void becomesReady(Worker worker) {
    lock.lock();
    try {
      starting.remove(worker);
      ready.add(worker);
      failures = 0;
      changed.signalAll();
      refill();
    } finally {
      lock.unlock();
    }
  }

  /** A worker that does not connect, or sees no end to opening its device, is ended. */
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
   * Waits for the end of a process apart from the thread that hears the others: a GPU's context may
   * take a while.
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
      shared.drop(session);
      code.drop(session);
      metrics.sessionEnded(session);
      LOG.info("{}", session.endLine(status));
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

  /** Ends all workers, and with them their sessions, and waits until they have gone. */
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
      }
    } catch (InterruptedException e) {
      all.forEach(worker -> worker.process().destroyForcibly());
      Thread.currentThread().interrupt();
    }
    listener.close();
    code.close();
  }
}
