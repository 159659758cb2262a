package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the workers' messages on the private socket. One thread serves all workers; what a
 * message changes about the workers is up to the {@link WorkerPool}.
 */
final class WorkerListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerListener.class);
  private static final int CHECK_MILLIS = 1_000;

  /** The descriptors besides those of the workers. */
  private static final int FIXED = 2;

  private static final int WAKES = 64;

  private final WorkerPool pool;
  private final WorkerAnswers answers;
  private final ServerAudit audit;
  private final SmallRegions regions = new SmallRegions();
  private final Listener listener;
  private final Thread thread = new Thread(this::listen, "graft-workers");
  private final List<Worker> connected = new ArrayList<>(); // only the thread uses this list
  private final Queue<Worker> added = new ConcurrentLinkedQueue<>();
  private final List<NativeSocket> wake;
  private volatile boolean stopping;

  /**
   * Opens the private socket.
   *
   * @param socket the socket's path; its folder must be private
   */
  WorkerListener(WorkerPool pool, WorkerAnswers answers, ServerAudit audit, Path socket)
      throws ServerException {
    this.pool = pool;
    this.answers = answers;
    this.audit = audit;
    this.listener = Listener.openUnix(socket, Libc.SOCK_SEQPACKET);
    try {
      this.wake = NativeSocket.pair("the listening thread");
    } catch (IOException e) {
      listener.close();
      throw new ServerException("cannot listen to workers: " + e.getMessage(), e);
    }
  }

  /** Listens to a worker that is connected from its start. */
  void add(Worker worker) {
    added.add(worker);
    try (Scratch byteToSend = new Scratch(1)) {
      wake.get(0).trySend(byteToSend.address(), 1);
    } catch (IOException e) {
      LOG.error("cannot wake the thread that listens to workers: {}", e.getMessage());
    }
  }

  void start() {
    thread.start();
  }

  /** Closes the connections to all workers, which end for that reason. */
  void stop(Duration limit) throws InterruptedException {
    stopping = true;
    listener.shutdown();
    thread.join(limit.toMillis());
  }

  /** The guests whose regions were too small, as the workers report. */
  SmallRegions regions() {
    return regions;
  }

  @Override
  public void close() {
    listener.close();
    wake.forEach(NativeSocket::close);
  }

  private void listen() {
    try {
      while (!stopping) {
        int[] fds = new int[FIXED + connected.size()];
        int[] events = new int[fds.length];
        fds[0] = listener.fd();
        fds[1] = wake.get(1).fd();
        for (int i = FIXED; i < fds.length; i++) {
          fds[i] = connected.get(i - FIXED).control().fd();
        }
        Arrays.fill(events, Libc.POLLIN);
        int[] occurred = NativeSocket.poll(CHECK_MILLIS, fds, events);
        for (int i = fds.length - 1; i >= FIXED; i--) {
          if (occurred[i] != 0 && !receive(connected.get(i - FIXED))) {
            pool.ended(connected.remove(i - FIXED));
          }
        }
        if (occurred[0] != 0 && !stopping) {
          accept();
        }
        if (occurred[1] != 0) {
          takeAdded();
        }
        audit.writeSums();
        for (Worker worker : pool.starting()) {
          if (isOverdue(worker)) {
            worker.process().kill();
            connected.remove(worker);
            pool.ended(worker);
          }
        }
      }
    } catch (IOException e) {
      LOG.error("the worker pool stops listening: {}", e.getMessage());
    } finally {
      connected.forEach(worker -> worker.control().close());
    }
  }

  /** Returns whether a worker did not connect or open its device in time. */
  private static boolean isOverdue(Worker worker) {
    return worker.ageNanos() > WorkerPool.START_LIMIT.toNanos()
        || (worker.control() == null && !worker.process().isAlive());
  }

  private void takeAdded() throws IOException {
    try (Scratch scratch = new Scratch(WAKES)) {
      wake.get(1).tryReceive(scratch.address(), WAKES);
    }
    for (Worker worker; (worker = added.poll()) != null; ) {
      connected.add(worker);
    }
  }

  private void accept() throws IOException {
    NativeSocket socket = listener.accept();
    Worker worker = pool.connected(socket);
    if (worker == null) {
      LOG.warn(
          "process {} connected to the private socket and is not a worker", socket.peerProcess());
      socket.close();
    } else {
      connected.add(worker);
    }
  }

  /**
   * Receives one message. A worker that executes a guest's calls may be compromised and send
   * anything; a message that it must not send ends it.
   *
   * @return false if the worker has ended or must end
   */
  private boolean receive(Worker worker) {
    try {
      ControlSocket.Received received = worker.control().receive();
      if (received == null) {
        return false;
      }
      handle(worker, received);
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("worker {} is killed: {}", worker.pid(), e.toString());
      worker.process().kill();
      return false;
    }
  }

  private void handle(Worker worker, ControlSocket.Received received) throws IOException {
    ServedSession session = worker.session();
    if (session != null && answers.hear(session, received, worker.control())) {
      return;
    }
    received.discard();
    if (session == null && received.message() instanceof ControlMessage.Ready ready) {
      worker.uuid(ready.uuid());
      pool.ready(worker);
    } else if (session == null && received.message() instanceof ControlMessage.Failed failed) {
      worker.failed(failed.reason());
    } else if (session != null && received.message() instanceof ControlMessage.Used used) {
      session.used(used);
    } else if (session != null && received.message() instanceof ControlMessage.RegionUse use) {
      regions.note(session, use);
    } else if (session != null && received.message() instanceof ControlMessage.Program claimed) {
      session.program(claimed.program());
    } else if (session != null && received.message() instanceof ControlMessage.Ended ended) {
      session.ending(ended.reason());
    } else if (session != null && received.message() instanceof ControlMessage.AskLease) {
      session.asksForLease();
    } else if (session != null && received.message() instanceof ControlMessage.OpenPeer request) {
      session.opensPeer(request);
    } else if (session != null
        && received.message() instanceof ControlMessage.LimitReached reached) {
      audit.limited(session, reached.limit());
    } else {
      throw new IOException(
          "it must not send " + received.message().getClass().getSimpleName() + " now");
    }
  }
}
