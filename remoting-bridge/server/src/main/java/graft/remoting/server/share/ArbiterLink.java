package graft.remoting.server.share;

import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.List;

/** One end of the connection of two servers of one GPU. The other server may be stopped. */
final class ArbiterLink {
  /** How long a follower waits for room in the connection, in milliseconds. */
  private static final int PATIENCE = 1000;

  private final NativeSocket socket;

  ArbiterLink(NativeSocket socket) {
    this.socket = socket;
  }

  /** A received message. The descriptors belong to the receiver. */
  record Received(ArbiterMessage message, List<Integer> fds) {}

  int fd() {
    return socket.fd();
  }

  NativeSocket socket() {
    return socket;
  }

  /**
   * Sends a message to the server that arbitrates, which reads at once unless it is stopped. A
   * connection that takes no message for {@link #PATIENCE} ends.
   *
   * @param fds descriptors, of which the other server gets copies
   */
  void send(ArbiterMessage message, List<Integer> fds) {
    if (!trySend(message, fds) && !(isWritable() && trySend(message, fds))) {
      socket.shutdown();
    }
  }

  private boolean isWritable() {
    try {
      return socket.poll(Libc.POLLOUT, PATIENCE) != 0;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Sends a message to a server that follows this one, without waiting. A connection that takes
   * none ends, since the other side would not know what was said.
   */
  void sendAtOnce(ArbiterMessage message) {
    if (!trySend(message, List.of())) {
      socket.shutdown();
    }
  }

  /** Sends a message; returns false if the other server has not read the earlier ones. */
  boolean trySend(ArbiterMessage message, List<Integer> fds) {
    byte[] packet = message.encode();
    try (Scratch scratch = Scratch.of(packet)) {
      Descriptors.send(socket, scratch.address(), packet.length, fds, Libc.MSG_DONTWAIT);
      return true;
    } catch (IOException e) {
      return false; // If the connection has ended, its reader notices that.
    }
  }

  /**
   * Waits for the next message; null at the end of the connection.
   *
   * @throws IOException also if the message is invalid
   */
  Received receive() throws IOException {
    try (Scratch scratch = new Scratch(ArbiterMessage.MAX)) {
      Descriptors.Received received =
          Descriptors.receive(socket, scratch.address(), ArbiterMessage.MAX);
      if (received.bytes() == 0) {
        return null;
      }
      try {
        return new Received(
            ArbiterMessage.decode(scratch.bytes(0, received.bytes())), received.fds());
      } catch (IOException e) {
        received.fds().forEach(Descriptors::discard);
        throw e;
      }
    }
  }

  /** As {@link #receive}, for a side that is sent no descriptors. */
  ArbiterMessage receiveMessage() throws IOException {
    Received received = receive();
    if (received == null) {
      return null;
    }
    received.fds().forEach(Descriptors::discard);
    return received.message();
  }
}
