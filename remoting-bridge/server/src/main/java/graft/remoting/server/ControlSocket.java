package graft.remoting.server;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.nio.file.Path;

/**
 * One end of the private socket between the server and a worker: packets (SOCK_SEQPACKET, so that
 * borders are kept and the end is seen) that can carry a file descriptor (SCM_RIGHTS, see unix(7)).
 */
final class ControlSocket implements AutoCloseable {
  private static final int MSGHDR = 56;
  private static final int IOVEC = 16;
  private static final int CMSG = 24;

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
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG + packet.length)) {
      long memory = scratch.address();
      long iovec = memory + MSGHDR;
      long control = iovec + IOVEC;
      long data = control + CMSG;
      Memory.write(data, packet, 0, packet.length);
      Memory.putLong(iovec, data);
      Memory.putLong(iovec + 8, packet.length);
      Memory.putLong(memory + 16, iovec);
      Memory.putLong(memory + 24, 1);
      if (fd >= 0) {
        Memory.putLong(memory + 32, control);
        Memory.putLong(memory + 40, CMSG);
        Memory.putLong(control, 16 + Integer.BYTES);
        Memory.putInt(control + 8, Libc.SOL_SOCKET);
        Memory.putInt(control + 12, Libc.SCM_RIGHTS);
        Memory.putInt(control + 16, fd);
      }
      while (Libc.sendmsg(socket.fd(), memory, Libc.MSG_NOSIGNAL) < 0) {
        if (Native.getLastError() != Libc.EINTR) {
          throw Libc.failure("send to " + socket.peer());
        }
      }
    }
  }

  /** The next message, waiting for it; null when the other end has gone. */
  Received receive() throws IOException {
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG + ControlMessage.MAX)) {
      long memory = scratch.address();
      long iovec = memory + MSGHDR;
      long control = iovec + IOVEC;
      long data = control + CMSG;
      Memory.putLong(iovec, data);
      Memory.putLong(iovec + 8, ControlMessage.MAX);
      Memory.putLong(memory + 16, iovec);
      Memory.putLong(memory + 24, 1);
      Memory.putLong(memory + 32, control);
      Memory.putLong(memory + 40, CMSG);
      long count;
      while ((count = Libc.recvmsg(socket.fd(), memory, Libc.MSG_CMSG_CLOEXEC)) < 0) {
        int errno = Native.getLastError();
        if (errno == Libc.ECONNRESET) {
          return null;
        }
        if (errno != Libc.EINTR) {
          throw Libc.failure("read from " + socket.peer());
        }
      }
      if (count == 0) {
        return null;
      }
      boolean carries =
          Memory.getLong(memory + 40) >= 20 && Memory.getInt(control + 12) == Libc.SCM_RIGHTS;
      int fd = carries ? Memory.getInt(control + 16) : -1;
      if ((Memory.getInt(memory + 48) & (Libc.MSG_TRUNC | Libc.MSG_CTRUNC)) != 0) {
        throw new IOException("a cut control message from " + socket.peer());
      }
      return new Received(ControlMessage.decode(Scratch.bytesAt(data, (int) count)), fd);
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
