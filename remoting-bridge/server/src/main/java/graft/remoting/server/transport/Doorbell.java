package graft.remoting.server.transport;

import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/** Wakes the other end of a pair of rings, and shows whether the client has disconnected. */
interface Doorbell extends AutoCloseable {
  /** Sleeps until the client rings. Returns false if the client has disconnected. */
  boolean await() throws IOException;

  /** Wakes the client, unless it has disconnected. */
  void ring() throws IOException;

  /** Returns whether the client has disconnected. */
  boolean isGone() throws IOException;

  @Override
  void close();

  /** Returns a doorbell that is rung by a byte on the client's connection. */
  static Doorbell of(NativeSocket socket) {
    return new Doorbell() {
      @Override
      public boolean await() throws IOException {
        try (Scratch bells = new Scratch(64)) {
          return socket.receive(bells.address(), 64) != NativeSocket.END;
        }
      }

      @Override
      public void ring() throws IOException {
        try (Scratch bell = new Scratch(1)) {
          socket.trySend(bell.address(), 1);
        }
      }

      @Override
      public boolean isGone() throws IOException {
        return socket.isGone();
      }

      @Override
      public void close() {
        socket.close();
      }
    };
  }
}
