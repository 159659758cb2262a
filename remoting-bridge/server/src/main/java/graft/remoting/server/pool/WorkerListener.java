package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the workers' messages on the private socket. One thread serves all workers; what a
 * message changes about the workers is up to the {@link WorkerPool}.
 */
final class WorkerListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerListener.class);
  private static final int CHECK_MILLIS = 1_000;

  private final WorkerPool pool;
  private final WorkerAnswers answers;
  private final Listener listener;
  private final Thread thread = new Thread(this::listen, "graft-workers");
  private final List<Worker> connected = new ArrayList<>(); // only the thread uses this list
  private volatile boolean stopping;

  /**
   * Opens the private socket.
   *
   * @param socket the socket's path; its folder must be private
   */
  WorkerListener(WorkerPool pool, WorkerAnswers answers, Path socket) throws ServerException {
    this.pool = pool;
    this.answers = answers;
    this.listener = Listener.openUnix(socket, Libc.SOCK_SEQPACKET);
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

  @Override
  public void close() {
    listener.close();
  }

  private void listen() {
    try {
      while (!stopping) {
        int[] fds = new int[1 + connected.size()];
        int[] events = new int[fds.length];
        fds[0] = listener.fd();
        events[0] = Libc.POLLIN;
        for (int i = 1; i < fds.length; i++) {
          fds[i] = connected.get(i - 1).control().fd();
          events[i] = Libc.POLLIN;
        }
        int[] occurred = NativeSocket.poll(CHECK_MILLIS, fds, events);
        for (int i = fds.length - 1; i > 0; i--) {
          if (occurred[i] != 0 && !receive(connected.get(i - 1))) {
            pool.ended(connected.remove(i - 1));
          }
        }
        if (occurred[0] != 0 && !stopping) {
          accept();
        }
        for (Worker worker : pool.overdue()) {
          worker.process().destroyForcibly();
          connected.remove(worker);
          pool.ended(worker);
        }
      }
    } catch (IOException e) {
      LOG.error("the worker pool stops listening: {}", e.getMessage());
    } finally {
      connected.forEach(worker -> worker.control().close());
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
      worker.process().destroyForcibly();
      return false;
    }
  }

  private void handle(Worker worker, ControlSocket.Received received) throws IOException {
    ServedSession session = worker.session();
    if (session != null && answers.hear(session, received, worker.control())) {
      return;
    }
    received.discard();
    if (session == null && received.message() instanceof ControlMessage.Ready) {
      pool.ready(worker);
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
}
