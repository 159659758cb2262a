package graft.remoting.server.transport;

import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/** How two that share rings wake each other, and how the server sees that the client has gone. */
interface Doorbell extends AutoCloseable {
  /** Sleeps until the client rings; false when it has gone. */
  boolean await() throws IOException;

  /** Wakes the client, if it is still there. */
  void ring() throws IOException;

  /** Whether the client has gone. */
  boolean isGone() throws IOException;

  @Override
  void close();

  /** A byte on the client's connection is a ring of the bell. */
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
