package graft.remoting.server;

import java.io.IOException;
import java.nio.file.Path;

/**
 * One end of the private socket between the server and a worker: packets (SOCK_SEQPACKET, so that
 * borders are kept and the end is seen) that can carry a file descriptor (SCM_RIGHTS, see unix(7)).
 */
final class ControlSocket implements AutoCloseable {

  private final NativeSocket socket;

  ControlSocket(NativeSocket socket) {
    this.socket = socket;
  }

  /** Connects a worker to its server. */
  static ControlSocket connect(Path path) throws IOException {
    int fd = Libc.socket(Libc.AF_UNIX, Libc.SOCK_SEQPACKET | Libc.SOCK_CLOEXEC, 0);
    if (fd < 0) {
      throw Libc.failure("make a socket");
    }
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY)) {
      long memory = scratch.address();
      if (Libc.connect(fd, memory, SocketAddress.write(memory, path)) < 0) {
        SystemCallException failure = Libc.failure("connect to the server at " + path);
        Libc.close(fd);
        throw failure;
      }
      return new ControlSocket(new NativeSocket(fd, path.toString()));
    }
  }

  /** A received message. The descriptor, -1 without one, belongs to the receiver. */
  record Received(ControlMessage message, int fd) {}

  int fd() {
    return socket.fd();
  }

  /** Sends a message. */
  void send(ControlMessage message) throws IOException {
    send(message, -1);
  }

  /** Sends a message and a copy of {@code fd}; the caller keeps its own. */
  synchronized void send(ControlMessage message, int fd) throws IOException {
    byte[] packet = message.encode();
    try (Scratch scratch = Scratch.of(packet)) {
      Descriptors.send(socket, scratch.address(), packet.length, fd);
    }
  }

  /** Whether {@link #receive} would not wait. */
  boolean hasMessage() {
    try {
      return socket.poll(Libc.POLLIN, 0) != 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** The next message, waiting for it; null when the other end has gone. */
  Received receive() throws IOException {
    try (Scratch scratch = new Scratch(ControlMessage.MAX)) {
      Descriptors.Received received =
          Descriptors.receive(socket, scratch.address(), ControlMessage.MAX);
      return received.bytes() == 0
          ? null
          : new Received(ControlMessage.decode(scratch.bytes(0, received.bytes())), received.fd());
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
