package graft.remoting.server.accept;

import graft.remoting.server.pool.ServerAudit;
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
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections at all addresses and authenticates each on a separate thread, since a peer
 * may be slow. A connection's thread holds a place in the {@link Lobby} until the connection is
 * authenticated and admitted, or refused. The thread of an admitted connection then holds the place
 * of a session. The places limit the number of threads. An error that the accepting thread cannot
 * handle ends the process, and systemd restarts the server: a server that keeps running without
 * accepting connections would appear healthy.
 */
public final class Acceptor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final Duration REFUSAL_LIMIT = Duration.ofSeconds(1);
  private static final int OUT_OF_DESCRIPTORS_PAUSE_MILLIS = 100;

  private final List<Listener> listeners;
  private final Handshake handshake;
  private final SessionGate gate;
  private final ServerMetrics metrics;
  private final ServerAudit audit;
  private final Lobby lobby;
  private final RefusalBudget refusals = new RefusalBudget();
  private final Consumer<Throwable> fatal;
  private final Thread thread = new Thread(null, this::run, "graft-accept", 256 * 1024);
  private final ExecutorService connections =
      Executors.newCachedThreadPool(
          task -> {
            Thread handler = new Thread(null, task, "graft-connection", 256 * 1024);
            handler.setDaemon(true);
            return handler;
          });
  private volatile boolean closing;

  /**
   * An acceptor.
   *
   * @param maxHandshakes the most connections that are not authenticated yet
   * @param fatal ends the process when the accepting thread fails
   */
  public Acceptor(
      List<Listener> listeners,
      Handshake handshake,
      SessionGate gate,
      ServerMetrics metrics,
      ServerAudit audit,
      int maxHandshakes,
      Consumer<Throwable> fatal) {
    this.listeners = listeners;
    this.handshake = handshake;
    this.gate = gate;
    this.metrics = metrics;
    this.audit = audit;
    this.lobby = new Lobby(maxHandshakes);
    this.fatal = fatal;
  }

  public void start() {
    thread.start();
  }

  private void run() {
    try {
      int[] fds = listeners.stream().mapToInt(Listener::fd).toArray();
      int[] events = listeners.stream().mapToInt(listener -> Libc.POLLIN).toArray();
      while (!closing) {
        accept(fds, events);
      }
    } catch (InterruptedException e) {
      LOG.debug("no connection is accepted any more", e);
    } catch (Throwable e) {
      fatal.accept(e);
    }
  }

  private void accept(int[] fds, int[] events) throws InterruptedException {
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
        Thread.sleep(OUT_OF_DESCRIPTORS_PAUSE_MILLIS);
      }
    }
  }

  private void admit(Listener listener) throws IOException, InterruptedException {
    NativeSocket socket = listener.accept();
    String source;
    try {
      source = socket.source();
    } catch (IOException e) {
      LOG.debug("{} left before it was looked at: {}", socket.peer(), e.getMessage());
      socket.close();
      return;
    }
    Lobby.Visitor visitor = lobby.enter(socket, source);
    connections.execute(() -> serve(visitor, listener.isTcp()));
  }

  private void serve(Lobby.Visitor visitor, boolean tcp) {
    try (NativeSocket socket = visitor.socket()) {
      Handshake.Accepted accepted = null;
      SessionPlaces.Place place;
      try {
        if (tcp) {
          SocketOptions.forClient(socket);
        }
        boolean isSuspect = refusals.isSpent(visitor.source(), System.nanoTime());
        accepted = handshake.run(socket, isSuspect);
        // Those that wait are no more than sessions, and hold no place here.
        place = gate.reserve(socket, accepted, waiting(visitor, accepted));
      } catch (ServerException e) {
        refuse(visitor, e, accepted);
        return;
      } finally {
        lobby.leave(visitor);
      }
      try (place) {
        gate.enter(socket, accepted, place.grant());
      } catch (HandshakeException e) {
        refuse(visitor, e, accepted);
      }
    } catch (IOException e) {
      metrics.connectionLost();
      // Whoever leaves in the middle of a handshake has cost as much as one who is refused.
      refusals.count(visitor.source(), System.nanoTime());
      LOG.debug("connection from {} ended: {}", visitor.socket().peer(), e.getMessage());
    }
  }

  private WaitingClient waiting(Lobby.Visitor visitor, Handshake.Accepted accepted) {
    return new WaitingClient(visitor.socket(), accepted.hello(), () -> lobby.leave(visitor));
  }

  /**
   * Refuses a connection.
   *
   * @param accepted the client, null if it has not authenticated
   */
  private void refuse(Lobby.Visitor visitor, Exception why, Handshake.Accepted accepted) {
    boolean isAuthenticated = accepted != null;
    HandshakeStatus status = HandshakeStatus.NO_WORKER;
    String message = "the server cannot serve now; its log says why";
    if (why instanceof HandshakeException refusal) {
      status = refusal.status();
      message = refusal.getMessage();
    }
    metrics.connectionRefused(status);
    String reason =
        visitor.isTurnedAway()
            ? "it had not authenticated when another connection needed its place"
            : why.getMessage();
    boolean isWithinBudget = logRefusal(visitor, reason);
    audit.refused(
        status == HandshakeStatus.BUSY ? "limit" : "refused",
        isAuthenticated ? accepted.grant().name() : "",
        visitor.source(),
        visitor.socket().peer(),
        reason);
    if (status != HandshakeStatus.MALFORMED && (isAuthenticated || isWithinBudget)) {
      answer(visitor.socket(), HandshakeMessages.refusal(status, message));
    }
  }

  private boolean logRefusal(Lobby.Visitor visitor, String why) {
    int count = refusals.count(visitor.source(), System.nanoTime());
    if (count == RefusalBudget.PER_SECOND + 1) {
      LOG.warn(
          "{} connections from {} were refused within a second: the log leaves out the others",
          RefusalBudget.PER_SECOND,
          visitor.source());
    }
    if (count > RefusalBudget.PER_SECOND) {
      return false;
    }
    LOG.warn("refused {}: {}", visitor.socket().peer(), why);
    return true;
  }

  private static void answer(NativeSocket socket, byte[] refusal) {
    long deadline = System.nanoTime() + REFUSAL_LIMIT.toNanos();
    try {
      Handshake.send(socket, refusal, deadline);
      // Closing a socket with unread bytes resets the connection, and the client might not receive
      // the reason.
      socket.shutdownOutput();
      try (Scratch scratch = new Scratch(1024)) {
        while (socket.receiveSome(scratch.address(), 1024, deadline) > 0) {
          // The bytes are discarded.
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
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.shutdownNow();
    listeners.forEach(Listener::close);
  }
}
