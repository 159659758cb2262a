package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/**
 * An event channel of Xen to a guest as a doorbell (Linux's {@code include/uapi/xen/evtchn.h}). The
 * client's connection shows whether the client has disconnected.
 */
final class EventChannel implements Doorbell {
  private static final long NOTIFY = 0x044504;
  private static final int PORT = 4;

  private final NativeSocket socket;
  private final int fd;
  private final int port;

  private EventChannel(NativeSocket socket, int fd, int port) {
    this.socket = socket;
    this.fd = fd;
    this.port = port;
  }

  /** Returns the doorbell of an event channel, and takes over its descriptor. */
  static EventChannel of(int fd, int port, NativeSocket socket) {
    return new EventChannel(socket, fd, port);
  }

  @Override
  public boolean await() throws IOException {
    int[] answers =
        NativeSocket.poll(-1, new int[] {fd, socket.fd()}, new int[] {Libc.POLLIN, Libc.POLLRDHUP});
    if (answers[1] != 0) {
      return false;
    }
    if (answers[0] == 0) {
      return true; // interrupted: the caller checks the rings again
    }
    try (Scratch ports = new Scratch(PORT)) {
      // The descriptor has one channel, which stays masked until its number is written back.
      long count = Libc.read(fd, ports.address(), PORT);
      if (count == PORT && Libc.write(fd, ports.address(), PORT) != PORT) {
        throw Libc.failure("listen to the event channel of " + socket.peer());
      }
    }
    return true;
  }

  @Override
  public void ring() throws IOException {
    try (Scratch which = new Scratch(4)) {
      Memory.putInt(which.address(), port);
      if (Libc.ioctl(fd, NOTIFY, which.address()) < 0) {
        throw Libc.failure("ring the event channel of " + socket.peer());
      }
    }
  }

  @Override
  public boolean isGone() throws IOException {
    return socket.isGone();
  }

  @Override
  public void close() {
    Libc.close(fd);
    socket.close();
  }
}
