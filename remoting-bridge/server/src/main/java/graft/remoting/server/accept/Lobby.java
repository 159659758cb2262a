package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.system.NativeSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * The connections that have not authenticated yet. The lobby has a fixed number of places, and each
 * place stands for one thread. When a connection arrives at a full lobby, the lobby ends the oldest
 * connection of the source with the most connections. A source that fills the lobby therefore
 * displaces its own connections, and a connection that authenticates quickly is rarely the oldest.
 */
final class Lobby {
  /** One connection in the lobby. */
  static final class Visitor {
    private final NativeSocket socket;
    private final String source;
    private volatile boolean isTurnedAway;

    private Visitor(NativeSocket socket, String source) {
      this.socket = socket;
      this.source = source;
    }

    NativeSocket socket() {
      return socket;
    }

    String source() {
      return source;
    }

    /** Whether the connection has lost its place to another one. */
    boolean isTurnedAway() {
      return isTurnedAway;
    }
  }

  private final int places;

  /** The connections in the order of arrival. */
  @GuardedBy("this")
  private final List<Visitor> visitors = new ArrayList<>();

  Lobby(int places) {
    this.places = places;
  }

  /**
   * Gives the connection a place. While the lobby is full, ends one connection and waits until the
   * thread of that connection has called {@link #leave}.
   *
   * @param source the origin of the connection, by which connections are counted
   */
  synchronized Visitor enter(NativeSocket socket, String source) throws InterruptedException {
    while (visitors.size() >= places) {
      if (visitors.stream().noneMatch(visitor -> visitor.isTurnedAway)) {
        turnAwayOne();
      }
      wait();
    }
    Visitor visitor = new Visitor(socket, source);
    visitors.add(visitor);
    return visitor;
  }

  @GuardedBy("this")
  private void turnAwayOne() {
    Visitor chosen = visitors.get(0);
    long most = 0;
    for (Visitor visitor : visitors) {
      long share = visitors.stream().filter(v -> v.source.equals(visitor.source)).count();
      if (share > most) {
        most = share;
        chosen = visitor;
      }
    }
    chosen.isTurnedAway = true;
    // The connection's own thread wakes up at the end of the stream and closes the descriptor.
    chosen.socket.shutdown();
  }

  /** Frees the connection's place. The connection's thread calls this before closing the socket. */
  synchronized void leave(Visitor visitor) {
    visitors.remove(visitor);
    notifyAll();
  }
}
