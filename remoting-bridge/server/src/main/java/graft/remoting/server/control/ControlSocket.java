package graft.remoting.server.control;

import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * One end of the private socket between the server and a worker. Messages are packets
 * (SOCK_SEQPACKET, which keeps their boundaries and shows the end of the connection) that can carry
 * file descriptors (SCM_RIGHTS, see unix(7)).
 */
public final class ControlSocket implements AutoCloseable {

  private final NativeSocket socket;

  public ControlSocket(NativeSocket socket) {
    this.socket = socket;
  }

  /** Takes over a descriptor that is connected to the server. */
  public static ControlSocket of(int fd) {
    return new ControlSocket(new NativeSocket(fd, "the server"));
  }

  /** Connects a worker to its server. */
  public static ControlSocket connect(Path path) throws IOException {
    return new ControlSocket(NativeSocket.connectPackets(path, "the server"));
  }

  /** A received message. The descriptors belong to the receiver. */
  public record Received(ControlMessage message, List<Integer> fds) {
    /** Returns the first descriptor, -1 if there is none. */
    public int fd() {
      return fds.isEmpty() ? -1 : fds.get(0);
    }

    /** Closes all descriptors. */
    public void discard() {
      fds.forEach(Descriptors::discard);
    }
  }

  public int fd() {
    return socket.fd();
  }

  /** Sends a message. */
  public void send(ControlMessage message) throws IOException {
    send(message, -1);
  }

  /**
   * Sends a message and a copy of {@code fd}, unless that is -1; the caller keeps its own
   * descriptor.
   */
  public void send(ControlMessage message, int fd) throws IOException {
    send(message, fd < 0 ? List.of() : List.of(fd), 0);
  }

  /**
   * Sends a message and copies of descriptors to a worker, which may be compromised: the call does
   * not wait for a worker that does not read its messages.
   *
   * @throws IOException if the worker has ended, or has not read the earlier messages
   */
  public void sendAtOnce(ControlMessage message, List<Integer> fds) throws IOException {
    send(message, fds, Libc.MSG_DONTWAIT);
  }

  private synchronized void send(ControlMessage message, List<Integer> fds, int flags)
      throws IOException {
    byte[] packet = message.encode();
    try (Scratch scratch = Scratch.of(packet)) {
      Descriptors.send(socket, scratch.address(), packet.length, fds, flags);
    }
  }

  /** Returns whether {@link #receive} would not wait. */
  public boolean hasMessage() {
    try {
      return socket.poll(Libc.POLLIN, 0) != 0;
    } catch (IOException e) {
      return true;
    }
  }

  /**
   * Waits for the next message; null if the other end has closed the connection.
   *
   * @throws IOException also if the message is invalid
   */
  public Received receive() throws IOException {
    try (Scratch scratch = new Scratch(ControlMessage.MAX)) {
      Descriptors.Received received =
          Descriptors.receive(socket, scratch.address(), ControlMessage.MAX);
      if (received.bytes() == 0) {
        return null;
      }
      try {
        return new Received(
            ControlMessage.decode(scratch.bytes(0, received.bytes())), received.fds());
      } catch (IOException e) {
        received.fds().forEach(Descriptors::discard);
        throw e;
      }
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
