package graft.remoting.server.accept;

import graft.remoting.server.pool.ServerMetrics;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.system.SocketOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections at all addresses and authenticates each on a thread of its own, because a
 * client may be slow. The number of connections that have not authenticated yet is limited; further
 * ones are closed immediately.
 */
public final class Acceptor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final Duration REFUSAL_LIMIT = Duration.ofSeconds(1);
  private static final int OUT_OF_DESCRIPTORS_PAUSE_MILLIS = 100;

  private final List<Listener> listeners;
  private final Handshake handshake;
  private final SessionGate gate;
  private final ServerMetrics metrics;
  private final Semaphore strangers;
  private final Thread thread = new Thread(null, this::run, "graft-accept", 256 * 1024);
  private final ExecutorService connections =
      Executors.newCachedThreadPool(
          task -> {
            Thread handler = new Thread(null, task, "graft-connection", 256 * 1024);
            handler.setDaemon(true);
            return handler;
          });
  private volatile boolean closing;

  public Acceptor(
      List<Listener> listeners,
      Handshake handshake,
      SessionGate gate,
      ServerMetrics metrics,
      int maxStrangers) {
    this.listeners = listeners;
    this.handshake = handshake;
    this.gate = gate;
    this.metrics = metrics;
    this.strangers = new Semaphore(maxStrangers);
  }

  public void start() {
    thread.start();
  }

  private void run() {
    int[] fds = listeners.stream().mapToInt(Listener::fd).toArray();
    int[] events = listeners.stream().mapToInt(listener -> Libc.POLLIN).toArray();
    while (!closing) {
      try {
        int[] answers = NativeSocket.poll(-1, fds, events);
        for (int i = 0; i < answers.length && !closing; i++) {
          if (answers[i] != 0) {
            admit(listeners.get(i));
          }
        }
      } catch (IOException e) {
        if (!closing) {
          LOG.warn("{}", e.getMessage());
          pause();
        }
      }
    }
  }

  /**
   * When the process is out of descriptors, accept fails immediately each time. The pause leaves
   * the processor to the threads that may close some.
   */
  private void pause() {
    try {
      Thread.sleep(OUT_OF_DESCRIPTORS_PAUSE_MILLIS);
    } catch (InterruptedException e) {
      closing = true;
    }
  }

  private void admit(Listener listener) throws IOException {
    NativeSocket socket = listener.accept();
    if (!strangers.tryAcquire()) {
      metrics.connectionRefused();
      LOG.warn("refused {}: too many connections are authenticating", socket.peer());
      socket.close();
      return;
    }
    connections.execute(() -> serve(socket, listener.isTcp()));
  }

  private void serve(NativeSocket socket, boolean tcp) {
    try (socket) {
      try {
        gate.enter(socket, authenticate(socket, tcp));
      } catch (HandshakeException e) {
        refuse(socket, e.status(), e.getMessage());
      } catch (ServerException e) {
        LOG.error("{}", e.getMessage());
        refuse(
            socket,
            HandshakeStatus.NO_WORKER,
            "the server cannot serve a session now; its log says why");
      }
    } catch (IOException e) {
      metrics.connectionRefused();
      LOG.info("connection from {} ended: {}", socket.peer(), e.getMessage());
    }
  }

  private Handshake.Accepted authenticate(NativeSocket socket, boolean tcp)
      throws IOException, ServerException {
    try {
      if (tcp) {
        SocketOptions.forClient(socket);
      }
      return handshake.run(socket);
    } finally {
      strangers.release();
    }
  }

  private void refuse(NativeSocket socket, HandshakeStatus status, String message) {
    metrics.connectionRefused();
    if (status == HandshakeStatus.MALFORMED) {
      LOG.info("refused {}: {}", socket.peer(), message);
      return;
    }
    LOG.warn("refused {}: {}", socket.peer(), message);
    long deadline = System.nanoTime() + REFUSAL_LIMIT.toNanos();
    try {
      Handshake.send(socket, HandshakeMessages.refusal(status, message), deadline);
      // Closing a socket with unread bytes resets the connection, and the client might not receive
      // the reason.
      socket.shutdownOutput();
      try (Scratch scratch = new Scratch(1024)) {
        while (socket.receiveSome(scratch.address(), 1024, deadline) > 0) {
          // Dropped.
        }
      }
    } catch (IOException | HandshakeException e) {
      LOG.debug(
          "{} closed the connection before it was refused: {}", socket.peer(), e.getMessage());
    }
  }

  @Override
  public void close() {
    closing = true;
    listeners.forEach(Listener::shutdown);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.shutdownNow();
    listeners.forEach(Listener::close);
  }
}
