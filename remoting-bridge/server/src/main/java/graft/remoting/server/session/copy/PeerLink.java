package graft.remoting.server.session.copy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.DataConnections;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.transport.SocketTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to a session of another server, for copies in both directions. One copy at a time
 * is received. The peer's bytes are data: they reach the memory of the copy that the client has
 * begun, and nothing else. The executor calls {@link #receive}, {@link #await} and {@link #send}.
 */
public final class PeerLink {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);
  private static final long STACK = 256 << 10;

  /** The longest wait for a connection, in which the session's other calls wait as well. */
  private static final long CONNECTION_MILLIS = 1_000;

  /**
   * What a copy returns whose link has ended. The client copies by itself then, and gets the error
   * of a server that is gone.
   */
  private static final int ENDED = CudaResult.DEVICE_UNAVAILABLE;

  private final int number;
  private final CudaDevice device;
  private final SessionState state;
  private final DataConnections connections;

  @GuardedBy("this")
  private final List<NativeSocket> sockets = new ArrayList<>();

  /** Whether a copy has waited for the first connection. */
  @GuardedBy("this")
  private boolean hasWaited;

  @GuardedBy("this")
  private boolean closed;

  /** The copy that is received now. */
  @GuardedBy("this")
  private Receiving receiving;

  /** The number of copies that have been begun. Both ends count from 1. */
  private long count;

  /**
   * Creates a link without connections.
   *
   * @param number the client's number for the link
   * @param spinMicros how long to poll before sleeping
   */
  public PeerLink(int number, CudaDevice device, SessionState state, int spinMicros) {
    this.number = number;
    this.device = device;
    this.state = state;
    this.connections = new DataConnections(spinMicros * 1_000L);
    connections.onViolation(this::close);
  }

  private static final class Receiving {
    private final long number;
    private final PeerWrite write;
    private final long bytes;
    private boolean isOver;
    private int result;

    /** The slot of the call that waits for the copy, -1 if there is none. */
    private int slot = -1;

    Receiving(long number, PeerWrite write, long bytes) {
      this.number = number;
      this.write = write;
      this.bytes = bytes;
    }
  }

  /** Takes over a connection. */
  public synchronized void add(NativeSocket socket) {
    if (closed || sockets.size() == DataConnections.MOST) {
      socket.close();
      return;
    }
    sockets.add(socket);
    connections.add(new SocketTransport(socket));
    notifyAll();
  }

  /**
   * Ends the link, with the copies on it. The sockets keep their descriptors, since other threads
   * use them.
   */
  public synchronized void close() {
    if (!closed) {
      closed = true;
      notifyAll();
      connections.fail(new IOException("the link to another server is closed"));
      sockets.forEach(NativeSocket::shutdown);
    }
  }

  /**
   * Begins to receive a copy.
   *
   * @return its number, 0 if the link is closed or another copy is being received
   */
  synchronized long receive(long target, long bytes) {
    if (closed || receiving != null) {
      return 0;
    }
    Receiving next = new Receiving(++count, new PeerWrite(device, state, number, target), bytes);
    receiving = next;
    Thread thread = new Thread(null, () -> finish(next), "graft-peer", STACK);
    thread.setDaemon(true);
    thread.start();
    return next.number;
  }

  /** Receives one copy. */
  private void finish(Receiving copy) {
    int result;
    try {
      copy.write.enter();
      connections.incoming().begin(copy.bytes, copy.write);
      connections.incoming().await();
      result = copy.write.finish();
    } catch (IOException | RuntimeException e) {
      LOG.info("a copy from another server: {}", e.toString());
      close();
      copy.write.finish(); // its buffers are free again
      result = ENDED;
    }
    int slot;
    synchronized (this) {
      copy.isOver = true;
      copy.result = result;
      slot = copy.slot;
      if (slot >= 0) {
        receiving = null;
      }
    }
    if (slot >= 0) {
      state.replies().send(slot, result);
    }
  }

  /**
   * Returns the result of a copy when it is over, and until then arranges for the reply to be sent
   * later.
   */
  synchronized int await(long copy, int slot) {
    if (receiving == null || receiving.number != copy || receiving.slot >= 0) {
      return CudaResult.INVALID_VALUE;
    }
    if (!receiving.isOver) {
      receiving.slot = slot;
      return Call.DEFERRED;
    }
    int result = receiving.result;
    receiving = null;
    return result;
  }

  /** Sends a copy that the other end has begun to receive; the reply is sent later. */
  int send(long copy, long source, long bytes, int slot) {
    if (!isConnected()) {
      return ENDED;
    }
    StagedRead.Sink sink =
        (offset, address, length, sent) ->
            connections.send(copy, offset, address, length, bytes, sent);
    return new StagedRead(device, state, slot, source, bytes, 0, sink, true).begin();
  }

  /**
   * Waits once for the first connection: the peer is told that it is welcome before this end has
   * the connection, and then its client may have this end send.
   */
  private synchronized boolean isConnected() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CONNECTION_MILLIS);
    try {
      while (sockets.isEmpty() && !closed && !hasWaited) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        hasWaited = left <= 0;
        wait(Math.max(1, left));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !closed && !sockets.isEmpty();
  }
}
